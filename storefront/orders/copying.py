"""The list of orders as a source for clients that keep a copy of it (`sync.feed`)."""

from collections.abc import Collection
from typing import Any

from storefront.orders.models import Order
from storefront.orders.queries import order_records
from storefront.sync.rows import Rows


class Orders(Rows):
    name, kind, model = "orders", "order", Order
    # A shop's orders have an index by number, and none by id.
    key = "number"

    def records(self, ids: Collection[int]) -> dict[int, dict[str, Any]]:
        return order_records(self.shop, ids, self.members)

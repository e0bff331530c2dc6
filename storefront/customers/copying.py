"""The list of customers as a source for clients that keep a copy of it (`sync.feed`)."""

from collections.abc import Collection
from typing import Any

from storefront.customers.models import Customer
from storefront.customers.queries import customer_records
from storefront.sync.rows import Rows


class Customers(Rows):
    name, kind, model = "customers", "customer", Customer

    def records(self, ids: Collection[int]) -> dict[int, dict[str, Any]]:
        return customer_records(self.shop, ids, self.members)

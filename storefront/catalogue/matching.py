"""Which standing product a record of a file means."""

from collections.abc import Sequence
from typing import Any

from storefront.catalogue.incoming import ProductRecord
from storefront.catalogue.models import Product
from storefront.shops.models import Shop


def match(shop: Shop, records: Sequence[ProductRecord]) -> list[int | None]:
    """For each record the id of the shop's product that its surest key names; None where none does.

    Where several products share a key, such as a SKU, the oldest is meant.
    """
    found: dict[tuple[str, Any], int] = {}
    for column in ("legacy_source_id", "sku", "slug"):
        wanted = {value for record in records for name, value in record.keys if name == column}
        if wanted:
            rows = Product.objects.filter(shop=shop, deleted_at=None, **{f"{column}__in": wanted})
            for value, id in rows.order_by("id").values_list(column, "id"):
                found.setdefault((column, value), id)
    return [next((found[key] for key in record.keys if key in found), None) for record in records]

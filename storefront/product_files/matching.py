"""Finds the existing products that the products of a file refer to."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from storefront.product_files.parsed_products import ParsedProduct
from storefront.shops.models import Shop

KEYS = {"legacy_source_id": "bigint", "sku": "text", "slug": "text"}


def match(shop: Shop, products: Sequence[ParsedProduct]) -> list[int | None]:
    """For each parsed product the id of the existing product that its most reliable key identifies, or None.

    If several products share a key, such as a SKU, the oldest is taken.
    """
    found: dict[tuple[str, Any], int] = {}
    for column in KEYS:
        wanted = {value for parsed in products for name, value in parsed.keys if name == column}
        for value, id in ids_by(shop, column, wanted):
            found[column, value] = min(id, found.get((column, value), id))
    return [next((found[key] for key in parsed.keys if key in found), None) for parsed in products]


def ids_by(shop: Shop, column: str, values: Collection[Any]) -> list[tuple[Any, int]]:
    """(value, id) of the shop's existing products that have one of these values in the column, unordered."""
    if not values:
        return []
    assert column in KEYS
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(_AMONG.format(column=column, marks=", ".join(["%s"] * len(values))), [shop.pk, *values])
        else:
            existing = " AND deleted_at IS NULL" if column == "slug" else ""
            statement = _EACH.format(column=column, type=KEYS[column], existing=existing)
            cursor.execute(statement, [list(values), shop.pk])
        return cursor.fetchall()


# An ORDER BY id would make SQLite walk the whole table instead of the index.
_AMONG = (
    "SELECT {column}, id FROM catalogue_product WHERE shop_id = %s AND deleted_at IS NULL AND {column} IN ({marks})"
)
# One look-up per value, filtering deleted products afterwards. While a table grows faster than PostgreSQL updates its
# statistics, `= ANY`, and any condition that the slugs' partial index covers, make it read the shop's whole index for
# each value. OFFSET 0 keeps the planner from merging the two steps into that plan again.
_EACH = (
    "SELECT wanted.value, found.id FROM unnest(%s::{type}[]) AS wanted (value), LATERAL (SELECT id, deleted_at"
    " FROM catalogue_product WHERE shop_id = %s AND {column} = wanted.value{existing} OFFSET 0) AS found"
    " WHERE found.deleted_at IS NULL"
)

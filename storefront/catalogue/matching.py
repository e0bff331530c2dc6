"""Which standing products the records of a file mean."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from storefront.catalogue.incoming import ProductRecord
from storefront.shops.models import Shop

KEYS = {"legacy_source_id": "bigint", "sku": "text", "slug": "text"}


def match(shop: Shop, records: Sequence[ProductRecord]) -> list[int | None]:
    """For each record the id of the shop's product that its surest key names; None where none does.

    Where several products share a key, such as a SKU, the oldest is meant.
    """
    found: dict[tuple[str, Any], int] = {}
    for column in KEYS:
        wanted = {value for record in records for name, value in record.keys if name == column}
        for value, id in ids_by(shop, column, wanted):
            found[column, value] = min(id, found.get((column, value), id))
    return [next((found[key] for key in record.keys if key in found), None) for record in records]


def ids_by(shop: Shop, column: str, values: Collection[Any]) -> list[tuple[Any, int]]:
    """(value, id) of the shop's standing products that have one of these values in the column, in no order."""
    if not values:
        return []
    assert column in KEYS
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(_AMONG.format(column=column, marks=", ".join(["%s"] * len(values))), [shop.pk, *values])
        else:
            standing = " AND deleted_at IS NULL" if column == "slug" else ""
            statement = _EACH.format(column=column, type=KEYS[column], standing=standing)
            cursor.execute(statement, [list(values), shop.pk])
        return cursor.fetchall()


# An ORDER BY id would make SQLite walk the whole table instead of the index.
_AMONG = (
    "SELECT {column}, id FROM catalogue_product WHERE shop_id = %s AND deleted_at IS NULL AND {column} IN ({marks})"
)
# One look-up a value, and deleted ones left out only afterwards: while a table grows faster than PostgreSQL takes
# statistics of it, `= ANY`, and any condition that the slugs' partial index answers, make it read the shop's whole
# index for each value instead. OFFSET 0 keeps it from arriving there again.
_EACH = (
    "SELECT wanted.value, found.id FROM unnest(%s::{type}[]) AS wanted (value), LATERAL (SELECT id, deleted_at"
    " FROM catalogue_product WHERE shop_id = %s AND {column} = wanted.value{standing} OFFSET 0) AS found"
    " WHERE found.deleted_at IS NULL"
)


def take_statistics() -> None:
    """Tell PostgreSQL what the look-ups' columns hold by now, ahead of autovacuum, which comes by once a minute."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for table, columns in _STATISTICS.items():
                cursor.execute(f"ANALYZE {table} ({', '.join(columns)})")


_STATISTICS = {
    "catalogue_product": ("shop_id", "deleted_at", *KEYS),
    "catalogue_productsearch": ("product_id",),
    "catalogue_productcategory": ("product_id",),
}

"""Which standing products the records of a file mean."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from storefront.catalogue.incoming import ProductRecord
from storefront.catalogue.models import Product
from storefront.shops.models import Shop

KEYS = ("legacy_source_id", "sku", "slug")


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
    """(value, id) of the shop's standing products that have one of these values in the column.

    By cursor, and in no order: an ORDER BY id would make SQLite walk the whole table instead of the index.
    """
    if not values:
        return []
    assert column in KEYS
    among, params = f"{column} = ANY(%s)", [list(values)]
    if connection.vendor == "sqlite":
        among, params = f"{column} IN ({', '.join(['%s'] * len(values))})", list(values)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {column}, id FROM {Product._meta.db_table}"  # noqa: S608, the columns are those of KEYS
            f" WHERE shop_id = %s AND deleted_at IS NULL AND {among}",
            [shop.pk, *params],
        )
        return cursor.fetchall()

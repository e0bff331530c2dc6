# ruff: noqa: S608, the statements consist of names of columns; values are parameters.
"""What imports need of PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from storefront.kit.bulk_insert import BulkTable
from storefront.listing.statistics import Upkeep as Upkeep
from storefront.product_files.later_texts import LaterTexts
from storefront.product_files.parsed_products import Problem
from storefront.shops.models import Shop


def later_texts(shop: Shop, table: BulkTable, upkeep: Upkeep) -> LaterTexts | None:
    """What writes the search texts beside the import; None if a second connection does not see what this one writes."""
    return None if connection.in_atomic_block else LaterTexts(shop, table, upkeep)


def notes(shop: Shop) -> list[Problem]:
    """Returns no notes: PostgreSQL carries shops of every size."""
    return []


def products_by(column: str, type: str, shop: int, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """The query for (value, id, slug, sku, name, type) of the shop's products with these values in a column, and its
    parameters."""
    # One look-up per value, filtering deleted products afterwards. While a table grows faster than PostgreSQL updates
    # its statistics, `= ANY`, and any condition that the slugs' partial index covers, make it read the shop's whole
    # index for each value. OFFSET 0 keeps the planner from merging the two steps into that plan again.
    existing = " AND deleted_at IS NULL" if column == "slug" else ""
    statement = (
        "SELECT wanted.value, found.id, found.slug, found.sku, found.name, found.type"
        f" FROM unnest(%s::{type}[]) AS wanted (value),"
        " LATERAL (SELECT id, slug, sku, name, type, deleted_at FROM catalogue_product"
        f" WHERE shop_id = %s AND {column} = wanted.value{existing} OFFSET 0) AS found WHERE found.deleted_at IS NULL"
    )
    return statement, [list(values), shop]


_VARIANT = "v.id, v.name, v.sku, p.id, p.slug, p.sku, p.name, p.type"
_PRODUCT = "JOIN catalogue_product p ON p.id = v.product_id WHERE p.deleted_at IS NULL"


def variants_by_sku(shop: int, skus: Sequence[str]) -> tuple[str, list[Any]]:
    """The query for (SKU, variant, product) of the shop's variants with these SKUs, and its parameters."""
    # One look-up per value, as in `products_by`.
    statement = (
        f"SELECT wanted.value, {_VARIANT} FROM unnest(%s::text[]) AS wanted (value), LATERAL (SELECT * FROM"
        f" catalogue_variant WHERE shop_id = %s AND sku = wanted.value OFFSET 0) AS v {_PRODUCT}"
    )
    return statement, [list(skus), shop]


def variants_by_id(shop: int, source: int, ids: Sequence[int]) -> tuple[str, list[Any]]:
    """The query for (id in the source, variant, product) of the shop's variants with these ids, and its parameters."""
    statement = (
        f"SELECT wanted.value, {_VARIANT} FROM unnest(%s::bigint[]) AS wanted (value), LATERAL (SELECT variant_id FROM"
        " catalogue_externalvariantid WHERE source_id = %s AND external_id = wanted.value OFFSET 0) AS e"
        f" JOIN catalogue_variant v ON v.id = e.variant_id {_PRODUCT} AND v.shop_id = %s"
    )
    return statement, [list(ids), source, shop]


def delete_variant_ids(source: int, ids: Sequence[int]) -> tuple[str, list[Any]]:
    """The statement that deletes these ids of variants in the source, and its parameters."""
    return "DELETE FROM catalogue_externalvariantid WHERE source_id = %s AND external_id = ANY(%s::bigint[])", [
        source,
        list(ids),
    ]

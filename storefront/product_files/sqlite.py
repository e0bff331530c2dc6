# ruff: noqa: S608, the statements consist of names of columns; values are parameters.
"""What imports need of SQLite."""

import json
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from django.db.models import Sum

from storefront.catalogue.models import ListingTotal
from storefront.kit.bulk_insert import BulkTable
from storefront.product_files.parsed_products import Problem
from storefront.shops.models import Shop

# Products of a shop up to which lists, searches and imports are fast.
MAX_PRODUCTS = 100_000
TOO_LARGE = (
    "The shop lists {:,} products now. On SQLite, lists, searches and imports are fast in shops of up to {:,}:"
    " use PostgreSQL for this one (docs/deployment.md)."
)


class Upkeep(nullcontext["Upkeep"]):
    """Does nothing beside an import, unlike the one for PostgreSQL."""

    def __init__(self) -> None:
        super().__init__(self)

    def after_batch(self, created: int) -> None:
        """Call it after each commit, with the number of products that were created so far."""

    def settle(self) -> None:
        """Call it at the end of the import."""


def later_texts(shop: Shop, table: BulkTable, upkeep: Upkeep) -> None:
    """Returns None: texts are written with their products, since there is one writer."""


def notes(shop: Shop) -> list[Problem]:
    """Returns a note for the report of an import that asks for PostgreSQL, if the shop is larger than MAX_PRODUCTS."""
    totals = ListingTotal.objects.filter(shop=shop, category=0)
    size = totals.aggregate(size=Sum("products"))["size"] or 0
    return [Problem(1, "", TOO_LARGE.format(size, MAX_PRODUCTS), "note")] if size > MAX_PRODUCTS else []


def products_by(column: str, type: str, shop: int, values: Sequence[Any]) -> tuple[str, list[Any]]:
    """The query for (value, id, slug, sku, name, type) of the shop's products with these values in a column, and its
    parameters."""
    # An ORDER BY id would make SQLite walk the whole table instead of the index.
    statement = (
        f"SELECT {column}, id, slug, sku, name, type FROM catalogue_product"
        f" WHERE shop_id = %s AND deleted_at IS NULL AND {column} IN ({', '.join(['%s'] * len(values))})"
    )
    return statement, [shop, *values]


_VARIANT = "v.id, v.name, v.sku, p.id, p.slug, p.sku, p.name, p.type"
_AMONG = "IN (SELECT value FROM json_each(%s))"


def variants_by_sku(shop: int, skus: Sequence[str]) -> tuple[str, list[Any]]:
    """The query for (SKU, variant, product) of the shop's variants with these SKUs, and its parameters."""
    # CROSS JOIN keeps the order: from the SKUs to the variants' index, and from there to the products.
    statement = (
        f"SELECT v.sku, {_VARIANT} FROM catalogue_variant v CROSS JOIN catalogue_product p ON p.id = v.product_id"
        f" WHERE v.shop_id = %s AND v.sku {_AMONG} AND p.deleted_at IS NULL"
    )
    return statement, [shop, json.dumps(skus)]


def variants_by_id(shop: int, source: int, ids: Sequence[int]) -> tuple[str, list[Any]]:
    """The query for (id in the source, variant, product) of the shop's variants with these ids, and its parameters."""
    statement = (
        f"SELECT e.external_id, {_VARIANT} FROM catalogue_externalvariantid e"
        " CROSS JOIN catalogue_variant v ON v.id = e.variant_id CROSS JOIN catalogue_product p ON p.id = v.product_id"
        f" WHERE e.source_id = %s AND e.external_id {_AMONG} AND v.shop_id = %s AND p.deleted_at IS NULL"
    )
    return statement, [source, json.dumps(ids), shop]


def delete_variant_ids(source: int, ids: Sequence[int]) -> tuple[str, list[Any]]:
    """The statement that deletes these ids of variants in the source, and its parameters."""
    statement = f"DELETE FROM catalogue_externalvariantid WHERE source_id = %s AND external_id {_AMONG}"
    return statement, [source, json.dumps(ids)]

"""Writes a shop's products as a file: our own format, which loses nothing, or WooCommerce's or Shopify's CSV.

The CSV formats hold what those programs support; options with prices, bundles, publication times and translations are
only in our own. Deleted products are not exported. Memory use does not grow with the number of products.
"""

import csv
from collections.abc import Callable, Iterator
from typing import IO, Any

import orjson

from storefront.catalogue.models import Category, Product
from storefront.kit.spreadsheets import escape_formula
from storefront.product_files.existing import ExistingProduct, existing_products
from storefront.product_files.native import writer as native_writer
from storefront.product_files.shopify import writer as shopify_writer
from storefront.product_files.woocommerce import writer as woocommerce_writer
from storefront.shops.models import Shop

FORMATS = ("native", "woocommerce", "shopify")
CHUNK_PRODUCTS = 1000


def export_products(
    *, shop: Shop, format: str, out: IO[str], progress: Callable[[int, int], None] | None = None
) -> int:
    """Write every product of the shop, drafts included, as text; returns how many.

    `out` must not translate line ends. `progress` is called with (products written, products in total).
    """
    written, total = 0, Product.objects.filter(shop=shop, deleted_at=None).count()
    write = _writer(shop, format, out)
    for product in products(shop):
        write(product)
        written += 1
        if progress and written % CHUNK_PRODUCTS == 0:
            progress(written, total)
    if progress:
        progress(written, written)
    return written


def products(shop: Shop) -> Iterator[ExistingProduct]:
    """The shop's products by id, each with its rows."""
    last = 0
    while True:
        rows = Product.objects.filter(shop=shop, deleted_at=None, pk__gt=last).order_by("pk")
        ids = list(rows.values_list("pk", flat=True)[:CHUNK_PRODUCTS])
        if not ids:
            return
        found = existing_products(shop, ids)
        # A product deleted since the first query is missing.
        yield from (found[id] for id in ids if id in found)
        last = ids[-1]


def _writer(shop: Shop, format: str, out: IO[str]) -> Callable[[ExistingProduct], Any]:
    categories = {category.pk: category for category in Category.objects.filter(shop=shop)}
    if format == "native":
        writer = native_writer.ProductWriter(shop, categories)
        return lambda product: out.write(orjson.dumps(writer.dump(product)).decode() + "\n")
    builder: Any = (
        woocommerce_writer.RowBuilder.for_all(shop, categories)
        if format == "woocommerce"
        else shopify_writer.RowBuilder(shop, categories)
    )
    if builder.byte_order_mark:
        out.write("\ufeff")
    table = csv.DictWriter(out, builder.header, lineterminator="\n")
    table.writeheader()
    return lambda product: table.writerows(
        {column: escape_formula(value) for column, value in row.items()} for row in builder.rows(product)
    )

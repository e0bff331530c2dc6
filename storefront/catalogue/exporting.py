"""Writes a shop's products as a file: our own format, which loses nothing, or WooCommerce's or Shopify's CSV.

The CSV formats hold what those programs know; options with prices, bundles, publication times and translations are
only in our own. Deleted products are in none. Memory stays flat in the number of products.
"""

import csv
from collections.abc import Callable, Iterator
from typing import IO, Any

import orjson

from storefront.catalogue import native_writing, shopify_writing, woocommerce_writing
from storefront.catalogue.merging import standing
from storefront.catalogue.models import Category, Product
from storefront.shops.models import Shop

FORMATS = ("native", "woocommerce", "shopify")
CHUNK = 200


def export_products(
    *, shop: Shop, format: str, out: IO[str], progress: Callable[[int, int], None] | None = None
) -> int:
    """Write every product of the shop, drafts too, as UTF-8 text; how many there were.

    `out` must not translate line ends. `progress` is told (products written, products in all).
    """
    written, total = 0, Product.objects.filter(shop=shop, deleted_at=None).count()
    write = _writer(shop, format, out)
    for product in products(shop):
        write(product)
        written += 1
        if progress and written % CHUNK == 0:
            progress(written, total)
    if progress:
        progress(written, written)
    return written


def products(shop: Shop) -> Iterator[Product]:
    """The shop's products by id, bundles with the rest, each with all that belongs to it."""
    last = 0
    while True:
        rows = Product.objects.filter(shop=shop, deleted_at=None, pk__gt=last).order_by("pk")
        ids = list(rows.values_list("pk", flat=True)[:CHUNK])
        if not ids:
            return
        found = standing(shop, ids)
        # One deleted since then is not there.
        yield from (found[id] for id in ids if id in found)
        last = ids[-1]


def _writer(shop: Shop, format: str, out: IO[str]) -> Callable[[Product], Any]:
    categories = {category.pk: category for category in Category.objects.filter(shop=shop)}
    if format == "native":
        return lambda product: out.write(orjson.dumps(native_writing.dump(shop, product, categories)).decode() + "\n")
    sheet = (woocommerce_writing if format == "woocommerce" else shopify_writing).Sheet(shop, categories)
    if sheet.byte_order_mark:
        out.write("\ufeff")
    table = csv.DictWriter(out, sheet.header, lineterminator="\n")
    table.writeheader()
    return lambda product: table.writerows(sheet.rows(product))

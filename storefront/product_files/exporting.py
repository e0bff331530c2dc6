"""Writes a shop's products as a file: in the native format, which loses nothing, or as CSV of WooCommerce or Shopify.

The CSV formats hold what those programs support; what they do not hold of which number of products is counted
(`losses.py`). Deleted products are not exported. Memory use does not grow with the number of products.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import IO, Any

import orjson

from storefront import audit
from storefront.catalogue.models import Category, Product
from storefront.kit.files.spreadsheets import escape_formula
from storefront.product_files.existing import ExistingProduct, existing_products
from storefront.product_files.export_processes import Text, in_processes
from storefront.product_files.losses import Losses, count_losses
from storefront.product_files.native import writer as native_writer
from storefront.product_files.shopify import writer as shopify_writer
from storefront.product_files.woocommerce import writer as woocommerce_writer
from storefront.shops.models import Shop

FORMATS = ("native", "woocommerce", "shopify")
CHUNK_PRODUCTS = 1000
# Fewer products are written before other processes have started.
MIN_FOR_PROCESSES = 20_000


def export_products(
    *,
    shop: Shop,
    format: str,
    out: IO[str],
    progress: Callable[[int, int], None] | None = None,
    processes: int = 1,
    lost: Losses | None = None,
) -> int:
    """Write every product of the shop, drafts included, as text; returns how many.

    `out` must not translate line ends. `progress` is called with (products written, products in total). With more than
    one of `processes`, that many processes read a large shop, outside of the caller's transaction. `lost` gets the
    number of products by what the format cannot hold of them.
    """
    written, total = 0, Product.objects.filter(shop=shop, deleted_at=None).count()
    file = _FORMATS[format](shop)
    out.write(file.head())
    many = processes > 1 and total >= MIN_FOR_PROCESSES
    chunks = in_processes(file.text, _chunks(shop), processes) if many else map(file.text, _chunks(shop))
    for text, count, losses in chunks:
        out.write(text)
        written += count
        if lost is not None:
            lost.update(losses)
        if progress:
            progress(written, total)
    if progress:
        progress(written, written)
    return written


def record_export(*, shop: Shop, format: str, products: int, lost: Losses, now: datetime) -> None:
    """The export's entry in the audit log."""
    not_held = {"not_held": dict(lost)} if lost else {}
    after = {"format": format, "products": products, **not_held}
    audit.record(shop=shop, action="products.exported", after=after, now=now)


def _chunks(shop: Shop) -> Iterator[list[int]]:
    """The ids of the shop's products, in order."""
    last = 0
    while True:
        rows = Product.objects.filter(shop=shop, deleted_at=None, pk__gt=last).order_by("pk")
        ids = list(rows.values_list("pk", flat=True)[:CHUNK_PRODUCTS])
        if not ids:
            return
        yield ids
        last = ids[-1]


def _products(shop: Shop, ids: Sequence[int]) -> list[ExistingProduct]:
    """Read these products, each with its rows. Leaves out products that were deleted meanwhile."""
    found = existing_products(shop, ids)
    return [found[id] for id in ids if id in found]


def _categories(shop: Shop) -> dict[int, Category]:
    return {category.pk: category for category in Category.objects.filter(shop=shop)}


class _Native:
    """The native format: a line of JSON for each product."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.writer = native_writer.ProductWriter(shop, _categories(shop))

    def head(self) -> str:
        return ""

    def text(self, ids: Sequence[int]) -> Text:
        """The lines of these products, and how many products they are."""
        products = _products(self.shop, ids)
        lines = [orjson.dumps(self.writer.dump(product)) for product in products]
        return b"\n".join([*lines, b""]).decode(), len(products), Counter()


class _Csv:
    """A table of another shop system, with the rows of this builder."""

    def __init__(self, shop: Shop, builder: Any) -> None:
        self.shop, self.builder = shop, builder

    def head(self) -> str:
        mark = "\ufeff" if self.builder.byte_order_mark else ""
        # Names of attributes are in headers, and could begin like a formula.
        escaped = {header: escape_formula(header) for header in self.builder.header}
        return mark + self._written(lambda table: table.writerow(escaped))

    def text(self, ids: Sequence[int]) -> Text:
        """The rows of these products, how many products they are, and what is not in their rows."""
        products = _products(self.shop, ids)
        rows = (row for product in products for row in self.builder.rows(product))
        escaped = ({column: escape_formula(value) for column, value in row.items()} for row in rows)
        text = self._written(lambda table: table.writerows(escaped))
        return text, len(products), count_losses(self.builder.held, products)

    def _written(self, write: Callable[[Any], Any]) -> str:
        out = io.StringIO(newline="")
        write(csv.DictWriter(out, self.builder.header, lineterminator="\n"))
        return out.getvalue()


_FORMATS: dict[str, Callable[[Shop], Any]] = {
    "native": _Native,
    "woocommerce": lambda shop: _Csv(shop, woocommerce_writer.RowBuilder.for_all(shop, _categories(shop))),
    "shopify": lambda shop: _Csv(shop, shopify_writer.RowBuilder.for_all(shop, _categories(shop))),
}

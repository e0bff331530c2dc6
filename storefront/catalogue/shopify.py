"""Shopify's product CSV, in both generations of its headers: rows that share a handle are one product.

A group's first row has the product and its first variant; further rows have a variant, a picture or both. Weights are
grams there and kilograms here.
"""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any

from storefront.catalogue import cells
from storefront.catalogue.cells import LIMITS, shown
from storefront.catalogue.delimited import Table, normal
from storefront.catalogue.incoming import (
    CategoryNode,
    CategoryPath,
    Failure,
    MediaRecord,
    Problem,
    ProductRecord,
    Read,
    VariantRecord,
)
from storefront.catalogue.models import Category, Media, Product, Variant
from storefront.catalogue.sheet import Cells, Columns, plan_for
from storefront.catalogue.spool import Spool
from storefront.shops.models import Shop

EXPECTED = "Handle (or URL handle), Title, Option1 Name, Option1 Value, Variant Price (or Price), Image Src"

# What is read, under both generations' headers and those seen in real files.
HEADERS: dict[str, tuple[str, ...]] = {
    "handle": ("Handle", "URL handle"),
    "title": ("Title",),
    "body": ("Body (HTML)", "Body HTML", "Body", "Description"),
    "vendor": ("Vendor",),
    "category": ("Product Category", "Standard Product Type"),
    "type": ("Type", "Custom Product Type", "Product Type"),
    "tags": ("Tags",),
    "published": ("Published", "Published on online store"),
    "status": ("Status",),
    "sku": ("Variant SKU", "SKU"),
    "barcode": ("Variant Barcode", "Barcode"),
    "price": ("Variant Price", "Price"),
    "compare price": ("Variant Compare At Price", "Compare-at price", "Compare at price"),
    "cost": ("Cost per item", "Variant Cost"),
    "taxable": ("Variant Taxable", "Charge tax"),
    "tax code": ("Variant Tax Code", "Tax code"),
    "tracker": ("Variant Inventory Tracker", "Inventory tracker"),
    "quantity": ("Variant Inventory Qty", "Variant Inventory Quantity", "Inventory quantity"),
    "policy": ("Variant Inventory Policy",),
    "continue selling": ("Continue selling when out of stock",),
    "grams": ("Variant Grams", "Weight value (grams)"),
    "requires shipping": ("Variant Requires Shipping", "Requires shipping"),
    "image": ("Image Src", "Product image URL"),
    "image position": ("Image Position",),
    "image text": ("Image Alt Text",),
    "variant image": ("Variant Image", "Variant image URL"),
    "gift card": ("Gift Card",),
    "meta title": ("SEO Title",),
    "meta description": ("SEO Description",),
} | {f"option{n} {part}": (f"Option{n} {part}",) for n in (1, 2, 3) for part in ("name", "value")}

_KNOWN = {normal(header): name for name, headers in HEADERS.items() for header in headers}
_GRAM = Decimal("0.001")
_VARIANT_CELLS = ("price", "sku", "policy", "option1 value", "option2 value", "option3 value", "quantity", "barcode")
_TITLE, _DEFAULT_TITLE = "title", "default title"


@cache
def column_of(header: str) -> str | None:
    return _KNOWN.get(normal(header))


def recognises(columns: Columns) -> bool:
    """Whether a file with these columns is Shopify's."""
    return "handle" in columns and any(name in columns for name in ("title", "option1 value", "price", "image"))


def read(table: Table, columns: Columns, *, shop: Shop, now: datetime) -> Iterator[Read]:
    """Every product of the file, by handle; a row without one belongs to the row above."""
    reader = _Reader(columns)
    handle = ""
    with Spool() as spool:
        for row in table.rows():
            if isinstance(row, Failure):
                yield row
                continue
            handle = row.cells[columns.index["handle"]] or handle
            if handle:
                spool.add(handle, row.line, row.cells)
            else:
                yield Failure([Problem(row.line, columns.header["handle"], "is empty, and there is no product above")])
        for name, rows in spool.groups():
            yield reader.product(name, [Cells(columns, line, cells_of_row) for line, cells_of_row in rows])


class _Reader:
    """Reads the groups of one file, whose columns settle what is to be read."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        product, variant = LIMITS[Product], LIMITS[Variant]
        self.product_plan = plan_for(
            columns,
            [
                ("title", "name", cells.required(cells.text(product["name"]))),
                ("body", "description", cells.text()),
                ("tags", "tags", _tags),
                ("gift card", "is_gift_card", cells.boolean(blank=False)),
                ("meta title", "meta_title", cells.text_or_none(product["meta_title"])),
                ("meta description", "meta_description", cells.text_or_none()),
                ("taxable", "is_taxable", cells.boolean(blank=True)),
                ("requires shipping", "requires_shipping", cells.boolean(blank=True)),
                ("tax code", "tic_code", cells.text_or_none(product["tic_code"])),
            ],
        )
        self.variant_plan = plan_for(
            columns,
            [
                ("sku", "sku", lambda cell: cells.check_text(cell.removeprefix("'"), variant["sku"])),
                (
                    "barcode",
                    "barcode",
                    lambda cell: cells.check_text(cell.removeprefix("'"), variant["barcode"]) or None,
                ),
                ("price", "price", cells.money),
                ("compare price", "compare_price", cells.money),
                ("cost", "cost_price", cells.money),
                ("grams", "weight", cells.measure(_GRAM, blank=Decimal("0.000"))),
            ],
        )
        self.options = [n for n in (1, 2, 3) if f"option{n} name" in columns and f"option{n} value" in columns]

    def product(self, handle: str, rows: list[Cells]) -> Read:
        """The product that these rows tell of; the first of them has what belongs to it as a whole."""
        first = rows[0]
        record = self._whole(handle, first)
        rows = self._without_repeats(record, rows)
        record.media = self._pictures(rows) if "image" in self.columns else None
        names = [(n, first[f"option{n} name"]) for n in self.options if first[f"option{n} name"]]
        sold = [row for row in rows if any(row[name] for name in _VARIANT_CELLS)] or [first]
        if self._is_simple(names, sold):
            self._sell(record, sold[0], record.fields)
            if self.options:
                record.fields["type"] = Product.Type.SIMPLE
            else:
                record.only_simple = "the product has variants, which need the Option1 Name and Option1 Value columns"
        elif not names:
            first.refuse("option1 name", "is needed where a product has several variants")
        else:
            self._add_variants(record, names, sold)
        problems = [problem for row in rows for problem in row.problems]
        return Failure(problems) if problems else record

    def _without_repeats(self, record: ProductRecord, rows: list[Cells]) -> list[Cells]:
        """The rows but those of a second product under the same handle: it has a title again and the same options."""
        kept: list[Cells] = []
        chosen: set[tuple[str, ...]] = set()
        dropping = False
        for row in rows:
            options = tuple(row[f"option{n} value"] for n in self.options)
            if row["title"] and kept:
                dropping = options in chosen and any(row[name] for name in _VARIANT_CELLS)
                if dropping:
                    reason = f"stands on line {kept[0].line} already; the product is left out here"
                    record.warn(self.columns.header["handle"], reason, row.line)
            if not dropping:
                kept.append(row)
                chosen.add(options)
        return kept

    def _is_simple(self, names: list[tuple[int, str]], sold: list[Cells]) -> bool:
        if len(sold) > 1:
            return False
        values = [(name.lower(), sold[0][f"option{n} value"].lower()) for n, name in names]
        return not values or values == [(_TITLE, _DEFAULT_TITLE)]

    def _whole(self, handle: str, first: Cells) -> ProductRecord:
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_plan)
        slug = first.read("handle", lambda _: cells.slug(handle), "")
        record = ProductRecord(first.line, [("slug", slug)], fields, slug)
        record.if_new["status"] = Product.Status.ACTIVE
        if "title" not in self.columns:
            record.only_update = "without a Title column a product cannot be made"
        if "status" in self.columns or "published" in self.columns:
            fields["status"] = self._status(first)
        if "vendor" in self.columns:
            record.named["brand"] = first.read("vendor", cells.text(200)) or None
        if "category" in self.columns or "type" in self.columns:
            record.categories = self._categories(first)
        return record

    def _status(self, first: Cells) -> str:
        """Seen by shoppers only where it is both active and published."""
        status = first["status"].lower() or "active"
        if status == "archived":
            return Product.Status.ARCHIVED
        if status not in ("active", "draft", "unlisted"):
            first.refuse("status", f"expected active, draft or archived, found {shown(first['status'])}")
        published = first.read("published", cells.boolean(blank=True))
        return Product.Status.ACTIVE if status == "active" and published else Product.Status.DRAFT

    def _categories(self, first: Cells) -> list[CategoryPath]:
        paths: list[CategoryPath] = []
        for column in ("category", "type"):
            steps = first[column].split(">") if column == "category" else [first[column]]
            names = [first.fit(column, cells.text(LIMITS[Category]["name"]), step.strip()) for step in steps]
            names = [name for name in names if name and name.lower() != "uncategorized"]
            if names and not any(path.names[-1].casefold() == names[-1].casefold() for path in paths):
                paths.append(CategoryPath(tuple(map(CategoryNode, names))))
        return paths

    def _pictures(self, rows: list[Cells]) -> list[MediaRecord]:
        placed: dict[str, tuple[int, MediaRecord]] = {}
        for row in rows:
            url = row.read("image", cells.address)
            if url and url not in placed:
                place = row.read("image position", cells.integer(blank=len(placed) + 1), 0)
                text = row.read("image text", cells.text(LIMITS[Media]["alt"]), "")
                fields = {"alt": text} if "image text" in self.columns else {}
                placed[url] = (place, MediaRecord(url, fields))
        return [picture for _, picture in sorted(placed.values(), key=lambda placed: placed[0])]

    def _add_variants(self, record: ProductRecord, names: list[tuple[int, str]], sold: list[Cells]) -> None:
        fields = record.fields
        record.variants, record.variants_complete = [], True
        used: dict[tuple, int] = {}
        for order, row in enumerate(sold):
            values = {name: row.read(f"option{n} value", cells.text(200), "") for n, name in names}
            values = {name: value for name, value in values.items() if value}
            variant = VariantRecord(row.line, values, {"name": " / ".join(values.values()), "sort_order": order})
            self._sell(record, row, variant.fields)
            variant.says_image = "variant image" in self.columns
            variant.image = row.read("variant image", cells.address) or None
            if used.setdefault(variant.key, row.line) != row.line:
                row.refuse("option1 value", f"the options are those of line {used[variant.key]}")
            record.variants.append(variant)
        fields |= {"type": Product.Type.VARIABLE, "track_inventory": False, "stock_qty": 0}
        record.if_new["attributes"] = [
            {
                "name": name,
                "values": _distinct(variant.option_values.get(name) for variant in record.variants),
                "variation": True,
            }
            for _, name in names
        ]
        prices = [
            variant.fields["price"]
            for variant in record.variants
            if variant.fields.get("is_active", True) and "price" in variant.fields
        ]
        if prices:
            # So that sorting by price puts it where its cheapest variant belongs.
            fields["price"] = min(prices)

    def _sell(self, record: ProductRecord, row: Cells, fields: dict[str, Any]) -> None:
        """Price, stock and the like of a variant, or of the product where it has none."""
        row.read_into(fields, self.variant_plan)
        if "tracker" in self.columns:
            fields["track_inventory"] = bool(row["tracker"])
        if "policy" in self.columns:
            fields["allow_backorders"] = row["policy"].lower() == "continue"
        elif "continue selling" in self.columns:
            fields["allow_backorders"] = row.read("continue selling", cells.boolean(blank=False))
        if "quantity" in self.columns:
            fields["stock_qty"] = row.read("quantity", lambda cell: cells.stock(cell or "0"))
        cells.settle_stock(record, fields, self.columns.header.get("quantity", "Inventory quantity"), row.line)
        if not row["price"]:
            self._without_price(record, row, fields)

    def _without_price(self, record: ProductRecord, row: Cells, fields: dict[str, Any]) -> None:
        if "price" not in self.columns:
            record.only_update = record.only_update or "without a price column a product cannot be made"
        elif fields is not record.fields:
            fields["is_active"] = False
            record.warn(self.columns.header["price"], "there is no price; the variant is kept inactive", row.line)
        elif fields.get("status", Product.Status.ACTIVE) == Product.Status.ACTIVE:
            fields["status"] = Product.Status.DRAFT
            record.warn(self.columns.header["price"], "there is no price; kept as a draft", row.line)


def _tags(cell: str) -> list[str]:
    return _distinct(cells.check_text(tag.strip()) for tag in cell.split(","))


def _distinct(values: Any) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))

"""Shopify's product CSV, with its old and new headers: rows that share a handle are one product.

A group's first row has the product and its first variant; further rows have a variant, a picture or both. Weights in
grams become kilograms.
"""

from collections.abc import Collection, Iterator
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import Category, Media, Product, Variant
from storefront.catalogue.parsing import quoted
from storefront.product_files import parsers
from storefront.product_files.csv_reading import Row, Table
from storefront.product_files.parsed_products import (
    CategoryNode,
    CategoryPath,
    Failure,
    Keys,
    ParsedMedia,
    ParsedMetafield,
    ParsedProduct,
    ParsedVariant,
    Problem,
    ReadResult,
)
from storefront.product_files.parsers import LIMITS
from storefront.product_files.row_store import RowStore
from storefront.product_files.rows import ColumnIndex, RowReader, UncarriedColumns, mappings_in_file
from storefront.product_files.shopify.headers import column_of as column_of
from storefront.product_files.shopify.headers import harmless_values as harmless_values
from storefront.product_files.shopify.headers import refusal as refusal
from storefront.product_files.shopify.headers import warnings as warnings
from storefront.product_files.shopify.metafields import COLUMN, merged, metafield_of, renamed, values_of
from storefront.shops.models import Shop

EXPECTED = "Handle (or URL handle), Title, Option1 Name, Option1 Value, Variant Price (or Price), Image Src"

_GRAM = Decimal("0.001")
NUMBERS = ("price", "compare price", "cost", "grams", "quantity")
_VARIANT_CELLS = ("price", "sku", "policy", "option1 value", "option2 value", "option3 value", "quantity", "barcode")
_TITLE, _DEFAULT_TITLE = "title", "default title"


def recognises(columns: Collection[str | None]) -> bool:
    """Returns True if a file with these columns is Shopify's."""
    return "handle" in columns and any(name in columns for name in ("title", "option1 value", "price", "image"))


def read(table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
    """Every product of the file, by handle; a row without a handle belongs to the row above."""
    reader, uncarried = _Reader(columns, shop), UncarriedColumns(table.headers, harmless_values)
    handle = ""
    with RowStore() as store:
        for row in table.rows():
            if not isinstance(row, Row):
                yield row
                continue
            if uncarried.pending:
                yield from uncarried.notices(row)
            handle = row.values[columns.index["handle"]] or handle
            if handle:
                store.add(handle, row.line, row.values)
            else:
                yield Failure(
                    [Problem(row.line, columns.header["handle"], "is empty, and there is no product in the rows above")]
                )
        for group in store.groups():
            if isinstance(group, Failure):
                yield group
            else:
                yield reader.product(group[0], [RowReader(columns, line, values) for line, values in group[1]])


def product_of(columns: ColumnIndex, rows: list[list[str]], *, shop: Shop, now: datetime) -> ReadResult:
    """The one product of these rows, which have the same handle."""
    read = [RowReader(columns, line, values) for line, values in enumerate(rows, 1)]
    return _Reader(columns, shop).product(read[0]["handle"], read)


def skus(table: Table, columns: ColumnIndex) -> Iterator[str]:
    """The SKU of every row that has one."""
    for found in table.rows():
        if isinstance(found, Row) and (sku := RowReader(columns, found.line, found.values)["sku"]):
            yield sku.removeprefix("'")


class _Reader:
    """Reads the groups of one file with the given columns."""

    def __init__(self, columns: ColumnIndex, shop: Shop) -> None:
        self.columns = columns
        product, variant, money = LIMITS[Product], LIMITS[Variant], parsers.money(shop.currency)
        self.product_mappings = mappings_in_file(
            columns,
            [
                ("title", "name", parsers.required(parsers.text(product["name"]))),
                ("body", "description", parsing.html),
                ("tags", "tags", _tags),
                ("gift card", "is_gift_card", parsers.boolean(blank=False)),
                ("meta title", "meta_title", parsers.text_or_none(product["meta_title"])),
                ("meta description", "meta_description", lambda value: parsing.html(value) or None),
                ("taxable", "is_taxable", parsers.boolean(blank=True)),
                ("requires shipping", "requires_shipping", parsers.boolean(blank=True)),
                ("tax code", "tic_code", parsers.text_or_none(product["tic_code"])),
            ],
        )
        self.variant_mappings = mappings_in_file(
            columns,
            [
                ("sku", "sku", lambda value: parsing.check_text(value.removeprefix("'"), variant["sku"])),
                (
                    "barcode",
                    "barcode",
                    lambda value: parsing.check_text(value.removeprefix("'"), variant["barcode"]) or None,
                ),
                ("price", "price", money),
                ("compare price", "compare_price", money),
                ("cost", "cost_price", money),
                ("grams", "weight", parsing.measure(_GRAM, blank=Decimal("0.000"))),
            ],
        )
        names = [name for name in columns.header if name.startswith(COLUMN)]
        found = [metafield for name in names if (metafield := metafield_of(columns.header[name]))]
        self.metafields = list(zip(names, renamed(found), strict=True))
        self.options = [n for n in (1, 2, 3) if f"option{n} name" in columns and f"option{n} value" in columns]

    def product(self, handle: str, rows: list[RowReader]) -> ReadResult:
        """The product of these rows, of which the first has the fields of the product itself."""
        first = rows[0]
        parsed = self._product(handle, first)
        rows = self._without_repeats(parsed, rows)
        parsed.media = self._pictures(rows) if "image" in self.columns else None
        names = [(n, first[f"option{n} name"]) for n in self.options if first[f"option{n} name"]]
        variant_rows = [row for row in rows if any(row[name] for name in _VARIANT_CELLS)] or [first]
        if self._is_simple(names, variant_rows):
            self._sales_fields(parsed, variant_rows[0], parsed.fields)
            parsed.keys.sku = parsed.fields.get("sku", "")
            if self.options:
                parsed.fields["type"] = Product.Type.SIMPLE
            else:
                parsed.refusal_if_variable = (
                    "the product has variants, which need the columns Option1 Name and Option1 Value"
                )
        elif not names:
            first.refuse("option1 name", "is required for a product with several variants")
        else:
            self._add_variants(parsed, names, variant_rows)
        if self.metafields:
            self._add_metafields(parsed, first)
        problems = [problem for row in rows for problem in row.problems]
        return Failure(problems) if problems else parsed

    def _without_repeats(self, parsed: ParsedProduct, rows: list[RowReader]) -> list[RowReader]:
        """The rows without those of a second product with this handle, which has a title and the same options again."""
        kept: list[RowReader] = []
        seen: set[tuple[str, ...]] = set()
        is_repeat = False
        for row in rows:
            options = tuple(row[f"option{n} value"] for n in self.options)
            if row["title"] and kept:
                is_repeat = options in seen and any(row[name] for name in _VARIANT_CELLS)
                if is_repeat:
                    reason = f"is already on line {kept[0].line}; this product was skipped"
                    parsed.warn(self.columns.header["handle"], reason, row.line)
            if not is_repeat:
                kept.append(row)
                seen.add(options)
        return kept

    def _is_simple(self, names: list[tuple[int, str]], variant_rows: list[RowReader]) -> bool:
        if len(variant_rows) > 1:
            return False
        values = [(name.lower(), variant_rows[0][f"option{n} value"].lower()) for n, name in names]
        return not values or values == [(_TITLE, _DEFAULT_TITLE)]

    def _product(self, handle: str, first: RowReader) -> ParsedProduct:
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        slug = first.read("handle", lambda _: parsers.slug(handle), "")
        parsed = ParsedProduct(first.line, Keys(slug=slug, name=fields.get("name", "")), fields, slug)
        parsed.if_new["status"] = Product.Status.ACTIVE
        if "title" not in self.columns:
            parsed.refusal_if_new = "a new product needs the column Title"
        if "status" in self.columns or "published" in self.columns:
            fields |= self._status(first)
        if "vendor" in self.columns:
            parsed.related_names["brand"] = first.read("vendor", parsers.text(200)) or None
        if "category" in self.columns or "type" in self.columns:
            parsed.categories = self._categories(first)
        return parsed

    def _status(self, first: RowReader) -> dict[str, Any]:
        """Active only if the product is both active, or unlisted, and published. Only then it decides about lists."""
        status = first["status"].lower() or "active"
        if status == "archived":
            return {"status": Product.Status.ARCHIVED}
        if status not in ("active", "draft", "unlisted"):
            first.refuse("status", f"expected active, unlisted, draft or archived, found {quoted(first['status'])}")
        published = first.read("published", parsers.boolean(blank=True))
        if status == "draft" or not published:
            return {"status": Product.Status.DRAFT}
        listing = {"exclude_from_catalog": status == "unlisted"} if first["status"] else {}
        return {"status": Product.Status.ACTIVE, **listing}

    def _categories(self, first: RowReader) -> list[CategoryPath]:
        paths: list[CategoryPath] = []
        for column in ("category", "type"):
            steps = first[column].split(">") if column == "category" else [first[column]]
            names = [first.read_part(column, parsers.text(LIMITS[Category]["name"]), step.strip()) for step in steps]
            names = [name for name in names if name and name.lower() != "uncategorized"]
            if names and not any(path.names[-1].casefold() == names[-1].casefold() for path in paths):
                paths.append(CategoryPath(tuple(map(CategoryNode, names))))
        return paths

    def _pictures(self, rows: list[RowReader]) -> list[ParsedMedia]:
        found: dict[str, tuple[int, ParsedMedia]] = {}
        for row in rows:
            url = row.read("image", parsers.url)
            if url and url not in found:
                position = row.read("image position", parsers.integer(blank=len(found) + 1), 0)
                text = row.read("image text", parsers.text(LIMITS[Media]["alt"]), "")
                fields = {"alt": text} if "image text" in self.columns else {}
                found[url] = (position, ParsedMedia(url, fields))
        return [picture for _, picture in sorted(found.values(), key=lambda positioned: positioned[0])]

    def _add_variants(self, parsed: ParsedProduct, names: list[tuple[int, str]], variant_rows: list[RowReader]) -> None:
        fields = parsed.fields
        parsed.variants, parsed.variants_complete = [], True
        lines: dict[tuple, int] = {}
        for order, row in enumerate(variant_rows):
            values = {name: row.read(f"option{n} value", parsers.text(200), "") for n, name in names}
            values = {name: value for name, value in values.items() if value}
            variant = ParsedVariant(row.line, values, {"name": " / ".join(values.values()), "sort_order": order})
            self._sales_fields(parsed, row, variant.fields)
            variant.states_image = "variant image" in self.columns
            variant.image = row.read("variant image", parsers.url) or None
            if lines.setdefault(variant.key, row.line) != row.line:
                row.refuse("option1 value", f"has the same options as the variant on line {lines[variant.key]}")
            parsed.variants.append(variant)
        fields |= {"type": Product.Type.VARIABLE, "track_inventory": False, "stock_qty": 0}
        parsed.if_new["attributes"] = [
            {
                "name": name,
                "values": _distinct(variant.option_values.get(name) for variant in parsed.variants),
                "variation": True,
            }
            for _, name in names
        ]
        prices = [
            variant.fields["price"]
            for variant in parsed.variants
            if variant.fields.get("is_active", True) and "price" in variant.fields
        ]
        if prices:
            # Lists sort by the cheapest variant's price.
            fields["price"] = min(prices)

    def _add_metafields(self, parsed: ParsedProduct, first: RowReader) -> None:
        parsed.metafields = []
        for column, metafield in self.metafields:
            values = None
            if first[column]:
                values = first.read(column, partial(values_of, type=metafield.type))
                if values is None:
                    parsed.warn(self.columns.header[column], "refers to something of the other shop; not imported")
                    continue
            parsed.metafields.append(ParsedMetafield(metafield.key, metafield.name, values))
        attributes = merged(parsed.if_new.get("attributes", []), parsed.metafields)
        for problem in rules.json_errors({"attributes": attributes}).get("attributes", ()):
            first.refuse(self.metafields[0][0], f"and the other metafields: {problem}")
        parsed.if_new["attributes"] = attributes

    def _sales_fields(self, parsed: ParsedProduct, row: RowReader, fields: dict[str, Any]) -> None:
        """Read price, stock and so on into the fields of a variant, or of a product without variants."""
        row.read_into(fields, self.variant_mappings)
        if "tracker" in self.columns:
            fields["track_inventory"] = bool(row["tracker"])
        if "policy" in self.columns:
            fields["allow_backorders"] = row["policy"].lower() == "continue"
        elif "continue selling" in self.columns:
            fields["allow_backorders"] = row.read("continue selling", _continues)
        if "quantity" in self.columns:
            fields["stock_qty"] = row.read("quantity", lambda value: parsers.stock(value or "0"))
        parsers.settle_stock(parsed, fields, self.columns.header.get("quantity", "Inventory quantity"), row.line)
        if not row["price"]:
            self._without_price(parsed, row, fields)

    def _without_price(self, parsed: ParsedProduct, row: RowReader, fields: dict[str, Any]) -> None:
        if "price" not in self.columns:
            parsed.refusal_if_new = parsed.refusal_if_new or "a new product needs a price column"
            return
        if fields is not parsed.fields:
            fields["is_active"], outcome = False, "the variant was imported as inactive"
        elif fields.get("status", Product.Status.ACTIVE) == Product.Status.ACTIVE:
            fields["status"], outcome = Product.Status.DRAFT, "the product was imported as a draft"
        else:
            return
        parsed.warn(self.columns.header["price"], f"there is no price; {outcome}", row.line)


def _continues(value: str) -> bool:
    """The flag for selling a product that is out of stock: `CONTINUE` or `DENY`, or true or false."""
    words = {"continue": True, "deny": False}
    return words[value.lower()] if value.lower() in words else parsers.boolean(blank=False)(value)


def _tags(value: str) -> list[str]:
    return _distinct(parsing.check_text(tag.strip()) for tag in value.split(","))


def _distinct(values: Any) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))

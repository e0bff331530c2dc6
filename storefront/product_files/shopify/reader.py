"""Shopify's product CSV, with its old and new headers: rows that share a handle are one product.

A group's first row has the product and its first variant; further rows have a variant, a picture or both. Weights in
grams become kilograms.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import Category, Media, Product, Variant
from storefront.catalogue.parsing import quoted
from storefront.product_files import parsers
from storefront.product_files.csv_reading import BrokenRow, Row, Table
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
from storefront.product_files.rows import KEEP, ColumnIndex, RowReader, UncarriedColumns, mappings_in_file
from storefront.product_files.shopify.handles import Handles
from storefront.product_files.shopify.headers import ANY
from storefront.product_files.shopify.headers import column_of as column_of
from storefront.product_files.shopify.headers import harmless_values as harmless_values
from storefront.product_files.shopify.headers import refusal as refusal
from storefront.product_files.shopify.headers import warnings as warnings
from storefront.product_files.shopify.metafields import COLUMN, REFERENCE, merged, metafield_of, renamed, values_of
from storefront.product_files.stock_levels import read_level
from storefront.product_files.translated_columns import TranslatedColumns
from storefront.shops.models import Shop

EXPECTED = "Handle (or URL handle), Title, Option1 Name, Option1 Value, Variant Price (or Price), Image Src"

_GRAM = Decimal("0.001")
NUMBERS = ("price", "compare price", "cost", "grams", "quantity")
_VARIANT_CELLS = ("price", "sku", "policy", "option1 value", "option2 value", "option3 value", "quantity", "barcode")
MAX_OPTIONS = 3
_decoded = parsers.decoded()
_TITLE, _DEFAULT_TITLE = "title", "default title"


# Columns of lists of SKUs, which state what variants cost and how many there are.
_OF_SKUS = {"sku", "barcode", "price", "compare price", "cost", "tracker", "quantity", "policy", "continue selling"}
_NEEDS_TITLE = _lazy("a new product needs the column Title")
_NEED_OPTIONS = _lazy("there are several variants, which need the columns Option1 Name and Option1 Value")


def recognises(columns: Collection[str | None]) -> bool:
    """Returns True if a file with these columns is Shopify's."""
    if "handle" not in columns:
        # No other program's, if all of its headers are known.
        return "sku" in columns and len(columns) > 1 and _OF_SKUS.issuperset(columns)
    # Other columns tell only if all are known.
    return any(name in columns for name in ("title", "option1 value", "price", "image", "sku")) or (
        None not in columns and len(columns) > 1
    )


def read(table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
    """Every product of the file, by handle; a row without a handle belongs to the row above."""
    reader, uncarried = _Reader(columns, shop), UncarriedColumns(table.headers, harmless_values)
    with RowStore() as store:
        has_handles = "handle" in columns
        handles = Handles(store, columns.index["handle"], columns.header["handle"]) if has_handles else None
        for row in table.rows():
            if isinstance(row, Row):
                if uncarried.pending:
                    yield from uncarried.notices(row)
                if handles:
                    yield from handles.add(row)
                else:
                    yield reader.product_or_variant(RowReader(columns, row.line, row.values))
            elif isinstance(row, BrokenRow) and handles:
                yield from handles.add_broken(row)
            else:
                yield row
        for group in store.groups():
            if isinstance(group, Failure):
                yield group
            else:
                rows = [RowReader(columns, line, values) for line, values in group[1]]
                parsed = reader.product(rows[0]["handle"], rows)
                if isinstance(parsed, ParsedProduct) and handles:
                    parsed.is_partial = handles.has_unknown_rows
                yield parsed


def product_reader(columns: ColumnIndex, *, shop: Shop, now: datetime) -> Callable[[list[list[str]]], ReadResult]:
    """Returns a function that reads the one product of its rows, which have the same handle."""
    return _Reader(columns, shop).product_of


def skus(table: Table, columns: ColumnIndex, *, of_variants: bool) -> Iterator[str]:
    """The SKU of every row that has one: rows of products are also those of their first variants."""
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
                ("title", "name", parsers.required(parsers.decoded(product["name"]))),
                ("body", "description", parsing.html),
                ("tags", "tags", lambda cell: _distinct(_decoded(tag.strip()) for tag in cell.split(","))),
                ("gift card", "is_gift_card", parsers.boolean(blank=KEEP)),
                ("meta title", "meta_title", parsers.text_or_none(product["meta_title"])),
                ("meta description", "meta_description", lambda value: parsing.html(value) or None),
                ("taxable", "is_taxable", parsers.boolean(blank=KEEP)),
                ("requires shipping", "requires_shipping", parsers.boolean(blank=KEEP)),
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
                ("price", "price", parsers.money(shop.currency, blank=KEEP)),
                ("compare price", "compare_price", money),
                ("cost", "cost_price", money),
                ("grams", "weight", parsing.measure(_GRAM, blank=Decimal("0.000"))),
            ],
        )
        self.translated = TranslatedColumns(columns)
        names = [name for name in columns.header if name.startswith(COLUMN)]
        found = [metafield for name in names if (metafield := metafield_of(columns.header[name]))]
        self.metafields = list(zip(names, renamed(found), strict=True))
        # A file of a few columns can be a list of some variants alone.
        self.is_whole = "title" in columns and "price" in columns
        self.options = [n for n in (1, 2, 3) if f"option{n} name" in columns and f"option{n} value" in columns]

    def product_of(self, rows: list[list[str]]) -> ReadResult:
        read = [RowReader(self.columns, line, values) for line, values in enumerate(rows, 1)]
        return self.product(read[0]["handle"], read)

    def product(self, handle: str, rows: list[RowReader]) -> ReadResult:
        """The product of these rows, of which the first has the fields of the product itself."""
        first = rows[0]
        parsed = self._product(handle, first)
        rows = self._without_repeats(parsed, rows)
        parsed.media = self._pictures(rows) if "image" in self.columns else None
        stated = [(n, first.read(f"option{n} name", parsers.decoded(200), "")) for n in self.options]
        names = [(n, name) for n, name in stated if name]
        variant_rows = [row for row in rows if any(row[name] for name in _VARIANT_CELLS)] or [first]
        if not self.options or (not names and len(variant_rows) == 1):
            parsed = self._without_options(parsed, variant_rows)
        elif self._is_simple(names, variant_rows):
            parsed.settles_type = True
            self._sales_fields(parsed, variant_rows[0], parsed.fields, parsed.if_new)
            parsed.keys.sku = parsed.fields.get("sku", "")
            parsed.fields["type"] = Product.Type.SIMPLE
        elif not names:
            first.refuse("option1 name", _("is required for a product with several variants"))
        else:
            self._add_variants(parsed, names, variant_rows)
        if self.metafields:
            self._add_metafields(parsed, first)
        problems = [problem for row in rows for problem in row.problems]
        return Failure(problems) if problems else parsed

    def product_or_variant(self, row: RowReader) -> ReadResult:
        """The row of a file without handles, which is about the product or the variant that has the SKU."""
        parsed = ParsedProduct(row.line, Keys(), {}, refusal_if_new=str(_NEEDS_TITLE))
        self._sales_fields(parsed, row, parsed.fields, parsed.if_new)
        parsed.keys.sku = parsed.fields.get("sku", "")
        if not parsed.keys.sku:
            row.refuse("sku", _("is empty"))
            return Failure(row.problems)
        variant = ParsedProduct(row.line, parsed.keys, {})
        variant.variants, variant.problems = [self._variant_of_sku(variant, row)], row.problems
        return replace(variant, as_variant=variant) if row.problems else replace(parsed, as_variant=variant)

    def _without_options(self, parsed: ParsedProduct, variant_rows: list[RowReader]) -> ParsedProduct:
        """The product of rows without options. If it is variable, its variants are found by their SKUs."""
        rows = [row for row in variant_rows if any(row[name] for name in _VARIANT_CELLS)]
        variable = replace(
            parsed,
            fields=dict(parsed.fields),
            warnings=list(parsed.warnings),
            new_warnings=list(parsed.new_warnings),
            update_warnings=list(parsed.update_warnings),
        )
        if unnamed := [row.line for row in rows if not row["sku"]]:
            reason = _("the product has variants, which need the columns Option1 Name and Option1 Value, or SKUs")
            variable.problems = [Problem(unnamed[0], "", reason)]
        elif rows:
            variable.variants = [self._variant_of_sku(variable, row) for row in rows]
        if len(rows) > 1:
            variable.refusal_if_new = variable.refusal_if_new or str(_NEED_OPTIONS)
            return variable
        self._sales_fields(parsed, variant_rows[0], parsed.fields, parsed.if_new)
        parsed.keys.sku = parsed.fields.get("sku", "")
        parsed.if_variable = variable
        return parsed

    def _variant_of_sku(self, parsed: ParsedProduct, row: RowReader) -> ParsedVariant:
        """The row as an existing variant. Problems are found when the row is read as a product, too."""
        variant = ParsedVariant(row.line, {}, {}, states_options=False)
        self._sales_fields(parsed, RowReader(self.columns, row.line, row.values), variant.fields, variant.if_new)
        variant.states_image = "variant image" in self.columns
        variant.image = row.read("variant image", parsers.url) or None
        return variant

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
                    reason = _("is already on line %(line)s; this product was skipped") % {"line": kept[0].line}
                    parsed.warn(self.columns.header["handle"], reason, row.line)
            if not is_repeat:
                kept.append(row)
                seen.add(options)
        return kept

    def _is_simple(self, names: list[tuple[int, str]], variant_rows: list[RowReader]) -> bool:
        """Returns True for what Shopify writes for a product without variants."""
        if len(variant_rows) > 1:
            return False
        values = [(name.lower(), variant_rows[0][f"option{n} value"].lower()) for n, name in names]
        return values == [(_TITLE, _DEFAULT_TITLE)]

    def _product(self, handle: str, first: RowReader) -> ParsedProduct:
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        slug = first.read("handle", lambda _: parsers.slug(handle), "")
        parsed = ParsedProduct(first.line, Keys(slug=slug, name=fields.get("name", "")), fields, slug)
        parsed.if_new["status"] = Product.Status.ACTIVE
        if "title" not in self.columns:
            parsed.refusal_if_new = str(_NEEDS_TITLE)
        fields |= self._status(first)
        self.translated.read(first, parsed)
        if "vendor" in self.columns:
            parsed.related_names["brand"] = first.read("vendor", parsers.decoded(200)) or None
        if "category" in self.columns or "type" in self.columns:
            parsed.categories = self._categories(first)
            parsed.categories_are_partial = "category" not in self.columns or "type" not in self.columns
        return parsed

    def _status(self, first: RowReader) -> dict[str, Any]:
        """Active only if the product is both active, or unlisted, and published. Only then it decides about lists. That
        a product is published does not tell that it is active."""
        status = first["status"].lower() or "active"
        if status == "archived":
            return {"status": Product.Status.ARCHIVED}
        if status not in ("active", "draft", "unlisted"):
            text = _("expected active, unlisted, draft or archived, found %(found)s")
            first.refuse("status", text % {"found": quoted(first["status"])})
        published = first.read("published", parsers.boolean(blank=True))
        if status == "draft" or not published:
            return {"status": Product.Status.DRAFT}
        is_stated = bool(first["status"])
        return {"status": Product.Status.ACTIVE, "exclude_from_catalog": status == "unlisted"} if is_stated else {}

    def _categories(self, first: RowReader) -> list[CategoryPath]:
        paths: list[CategoryPath] = []
        for column in ("category", "type"):
            steps = first[column].split(">") if column == "category" else [first[column]]
            names = [first.read_part(column, parsers.decoded(LIMITS[Category]["name"]), step.strip()) for step in steps]
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
        return [picture for _unused, picture in sorted(found.values(), key=lambda positioned: positioned[0])]

    def _add_variants(self, parsed: ParsedProduct, names: list[tuple[int, str]], variant_rows: list[RowReader]) -> None:
        fields = parsed.fields
        parsed.variants, parsed.variants_complete = [], self.is_whole
        if len(names) == len(self.options) < MAX_OPTIONS:
            parsed.only_options = frozenset(name for _unused, name in names)
        lines: dict[tuple, int] = {}
        for order, row in enumerate(variant_rows):
            values = {name: row.read(f"option{n} value", parsers.decoded(200), "") for n, name in names}
            values = {name: value for name, value in values.items() if value}
            variant = ParsedVariant(row.line, values, {"name": " / ".join(values.values()), "sort_order": order})
            variant.any_value = ANY
            self._sales_fields(parsed, row, variant.fields, variant.if_new)
            variant.states_image = "variant image" in self.columns
            variant.image = row.read("variant image", parsers.url) or None
            if lines.setdefault(variant.key, row.line) != row.line:
                text = _("has the same options as the variant on line %(line)s")
                row.refuse("option1 value", text % {"line": lines[variant.key]})
            parsed.variants.append(variant)
        fields |= {"type": Product.Type.VARIABLE, "track_inventory": False, "stock_qty": 0}
        parsed.if_new["attributes"] = [
            {
                "name": name,
                "values": _distinct(variant.option_values.get(name) for variant in parsed.variants),
                "variation": True,
            }
            for _unused, name in names
        ]

    def _add_metafields(self, parsed: ParsedProduct, first: RowReader) -> None:
        parsed.metafields = []
        for column, metafield in self.metafields:
            values = None
            if first[column]:
                values = first.read(column, partial(values_of, type=metafield.type))
                if values is None:
                    refers = REFERENCE in first[column]
                    other = _("refers to something of the other shop; not imported")
                    reason = other if refers else _("is data of an app; not imported")
                    parsed.warn(self.columns.header[column], reason)
                    continue
            parsed.metafields.append(ParsedMetafield(metafield.key, metafield.name, values))
        attributes = merged(parsed.if_new.get("attributes", []), parsed.metafields)
        for problem in rules.json_errors({"attributes": attributes}).get("attributes", ()):
            first.refuse(self.metafields[0][0], _("and the other metafields: %(problem)s") % {"problem": problem})
        parsed.if_new["attributes"] = attributes

    def _sales_fields(
        self, parsed: ParsedProduct, row: RowReader, fields: dict[str, Any], if_new: dict[str, Any]
    ) -> None:
        """Read price, stock and so on into the fields of a variant, or of a product without variants."""
        row.read_into(fields, self.variant_mappings)
        if "tracker" in self.columns:
            fields["track_inventory"] = bool(row["tracker"])
        if row["policy"]:
            fields["allow_backorders"] = row["policy"].lower() == "continue"
        elif "policy" not in self.columns and row["continue selling"]:
            fields["allow_backorders"] = row.read("continue selling", _continues)
        if row["quantity"]:
            fields["stock_qty"] = row.read("quantity", parsers.stock)
        elif "quantity" in self.columns:
            if_new |= {"stock_qty": 0, "track_inventory": True}
        read_level(parsed, fields, self.columns.header.get("quantity", "Inventory quantity"), row.line)
        if not row["price"]:
            self._without_price(parsed, row, fields, if_new)

    def _without_price(
        self, parsed: ParsedProduct, row: RowReader, fields: dict[str, Any], if_new: dict[str, Any]
    ) -> None:
        """Make a new variant inactive, or a new product a draft. An existing one keeps its price and its status."""
        if "price" not in self.columns:
            parsed.refusal_if_new = parsed.refusal_if_new or "a new product needs a price column"
            return
        header = self.columns.header["price"]
        reason = _("is empty; an existing product keeps its price, and its status if that is active here")
        parsed.warn_once_if_updated(header, reason, row.line)
        if fields is not parsed.fields:
            if_new["is_active"], outcome = False, "the variant was imported as inactive"
        elif fields.get("status", Product.Status.ACTIVE) == Product.Status.ACTIVE:
            fields.pop("status", None)
            if_new["status"], outcome = Product.Status.DRAFT, "the product was imported as a draft"
        else:
            return
        parsed.warn_if_new(header, f"there is no price; {outcome}", row.line)


def _continues(value: str) -> bool:
    """The flag for selling a product that is out of stock: `CONTINUE` or `DENY`, or true or false."""
    words = {"continue": True, "deny": False}
    return words[value.lower()] if value.lower() in words else parsers.boolean(blank=False)(value)


def _distinct(values: Any) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))

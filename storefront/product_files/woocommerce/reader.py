"""WooCommerce's product CSV: one row a product, variations in rows of their own, before or after their parents.

Weights become kilograms and lengths centimetres or inches, by the units in the headers. Products without a price, and
grouped and external products, which this shop does not support, are imported as drafts with a warning.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from copy import copy
from datetime import datetime
from decimal import Decimal
from html import unescape
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import Product, RelatedProduct, Variant
from storefront.catalogue.parsing import quoted
from storefront.product_files import parsers
from storefront.product_files.csv_reading import BrokenRow, Row, Table
from storefront.product_files.parsed_products import (
    Failure,
    Keys,
    ParsedMedia,
    ParsedProduct,
    ParsedRelated,
    ParsedVariant,
    ReadResult,
)
from storefront.product_files.parsers import LIMITS
from storefront.product_files.row_store import RowStore
from storefront.product_files.rows import KEEP, ColumnIndex, FieldMapping, RowReader, UncarriedColumns, mappings_in_file
from storefront.product_files.sale_periods import STATED
from storefront.product_files.stock_levels import read_level
from storefront.product_files.translated_columns import TranslatedColumns
from storefront.product_files.woocommerce import alone, headers
from storefront.product_files.woocommerce.families import Families
from storefront.product_files.woocommerce.headers import column_of as column_of
from storefront.product_files.woocommerce.headers import harmless_values as harmless_values
from storefront.product_files.woocommerce.headers import refusal as refusal
from storefront.product_files.woocommerce.headers import warnings as warnings
from storefront.product_files.woocommerce.keys import is_translation, is_variation, parent_reference
from storefront.product_files.woocommerce.keys import skus as skus
from storefront.product_files.woocommerce.keys import stated_source as stated_source
from storefront.product_files.woocommerce.parsers import (
    category_paths,
    download_limit,
    paragraphs,
    product_references,
    texts,
)
from storefront.product_files.woocommerce.prices import PriceColumns
from storefront.product_files.woocommerce.seo import SeoColumns
from storefront.product_files.woocommerce.stock import read_stock, read_variation_stock
from storefront.product_files.woocommerce.translated_rows import TranslatedRows
from storefront.product_files.woocommerce.variations import (
    preselect,
    problems_of_repeated_options,
    refusal_without_options,
    settle_shipping,
    with_variations,
    without_repeats,
)
from storefront.shops.models import Shop

EXPECTED = "ID, Type, SKU, Name, Published, Regular price, Categories"

MAX_ID = 2**62
NUMBERS = ("regular price", "sale price", "cost", "weight", "length", "width", "height", "stock", "low stock")
RELATED = {"up-sells": RelatedProduct.Kind.UP_SELL.value, "cross-sells": RelatedProduct.Kind.CROSS_SELL.value}
TYPES = ("simple", "variable", "variation", "grouped", "external")
_SIDES, _UNTAXED = ("length", "width", "height"), ("none", "shipping", "false", "0")
_IMAGE_COMMA = re.compile(r",\s*(?=https?://)")


def recognises(columns: Collection[str | None]) -> bool:
    """Returns True if a file with these columns is WooCommerce's: it has a column that tells, or none that WooCommerce
    does not have."""
    has_key = any(name in columns for name in ("id", "sku", "name"))
    return has_key and (not headers.DISTINCTIVE.isdisjoint(columns) or (None not in columns and len(columns) > 1))


def read(table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
    """Every product of the file: simple ones in file order, then variable ones, after all rows have been read."""
    reader, lone_parts = _Reader(columns, shop, now), headers.lone_headers(columns.header)
    uncarried = UncarriedColumns(
        table.headers, lambda header: set() if header in lone_parts else harmless_values(header)
    )
    with RowStore() as store, closing(reader.translated):
        yield from reader.translated.read(copy(table))
        families = Families(store, columns)
        for found in table.rows():
            if not isinstance(found, Row):
                if isinstance(found, BrokenRow):
                    families.refuse_unknown(found)
                yield found
                continue
            if uncarried.pending:
                yield from uncarried.notices(found)
            row = RowReader(columns, found.line, found.values)
            if is_translation(row):
                continue
            kind = reader.kind_of(row)
            if kind == "variation" and row["parent"]:
                families.add_variation(row)
            elif kind == "variation":
                yield alone.lone_variation(reader, row)
            elif kind == "variable":
                families.add_parent(row)
            elif kind:
                families.pass_single()
                yield alone.single_or_variation(reader, row, kind)
            else:
                families.refuse(row)
        for group in store.groups():
            if isinstance(group, Failure):
                yield group
            else:
                yield from reader.family([RowReader(columns, line, values) for line, values in group[1]])
        yield from reader.translated.unused()


def product_reader(columns: ColumnIndex, *, shop: Shop, now: datetime) -> Callable[[list[list[str]]], ReadResult]:
    """Returns a function that reads the one product of its rows: a simple one, or a variable one with variations."""
    return _Reader(columns, shop, now).product_of


class _Reader:
    """Reads the rows of one file with the row columns."""

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        self.columns, self.shop, self.now = columns, shop, now
        self.seo = SeoColumns(columns, shop.name)
        self.related = [(column, kind) for column, kind in RELATED.items() if column in columns]
        limits = LIMITS[Product]
        weight, unit, length = headers.units(columns.header)
        self.prices = PriceColumns(columns, shop, now)
        self.common: list[FieldMapping] = [
            ("barcode", "barcode", parsers.text_or_none(limits["barcode"])),
            ("cost", "cost_price", parsers.money(shop.currency)),
            ("sku", "sku", parsers.text(limits["sku"])),
            ("position", "sort_order", parsers.integer()),
        ]
        self.product_mappings = mappings_in_file(
            columns,
            [
                *self.common,
                ("name", "name", parsers.required(parsers.decoded(limits["name"]))),
                ("short description", "short_description", paragraphs),
                ("description", "description", paragraphs),
                ("featured", "is_featured", parsers.boolean(blank=KEEP)),
                ("low stock", "low_stock_threshold", parsers.integer(blank=0)),
                ("weight", "weight", parsing.measure(weight, blank=Decimal("0.000"))),
                ("length", "length", parsing.measure(length)),
                ("width", "width", parsing.measure(length)),
                ("height", "height", parsing.measure(length)),
                ("download limit", "max_downloads", download_limit),
                ("download expiry", "download_expiry_days", download_limit),
                ("tags", "tags", texts),
                (
                    "visibility",
                    "exclude_from_catalog",
                    lambda value: value.lower() in ("hidden", "search") if value else KEEP,
                ),
                ("tax status", "is_taxable", lambda value: value.lower() not in _UNTAXED if value else KEEP),
            ],
        )
        self.variant_mappings = mappings_in_file(columns, [*self.common, ("weight", "weight", parsing.measure(weight))])
        self.unit = unit
        parts = headers.attribute_columns(columns.index)
        self.attributes = sorted(number for number, found in parts.items() if found == 2)
        self.columns_in_languages = TranslatedColumns(columns)
        self.translated = TranslatedRows(columns, self.attributes)
        # True if the file has a name without values, values without a name, or the second attribute without the first.
        numbered = [*range(1, len(self.attributes) + 1)]
        self.lacks_attributes = 1 in parts.values() or self.attributes != numbered

    def product_of(self, rows: list[list[str]]) -> ReadResult:
        read = [RowReader(self.columns, line, values) for line, values in enumerate(rows, 1)]
        kind = self.kind_of(read[0])
        return next(self.family(read)) if kind == "variable" else self.single(read[0], kind)

    def kind_of(self, row: RowReader) -> str:
        """The row's base type; empty, with a problem recorded, if the type is unknown."""
        words = {word.strip() for word in row["type"].lower().split(",")} - {"", "downloadable", "virtual"}
        kind = next((name for name in ("variation", "variable", "grouped", "external") if name in words), "simple")
        if words - set(TYPES):
            text = _("expected one of %(expected)s, found %(value)s")
            row.refuse("type", text % {"expected": ", ".join(TYPES), "value": quoted(row["type"])})
            return ""
        return "variation" if is_variation(row) else kind

    def single(self, row: RowReader, kind: str) -> ParsedProduct | Failure:
        """A product that is a single row."""
        parsed = self._product(row)
        fields, words = parsed.fields, row["type"].lower()
        if kind in ("grouped", "external"):
            parsed.if_new["type"] = "simple"
        elif words:
            fields["type"] = "digital" if "downloadable" in words else "simple"
            fields["requires_shipping"] = "virtual" not in words
        if self.prices.columns:
            fields[STATED] = self.prices.read(row, parsed)
        if kind in ("grouped", "external"):
            text = _("%(kind)s products are not supported; imported as a draft")
            self._draft(parsed, row, "type", text % {"kind": kind})
        elif "regular price" not in self.columns:
            parsed.refusal_if_new = _("a new product needs a price column")
        elif not (row["regular price"] or row["sale price"]):
            self._draft(parsed, row, "regular price", _("there is no price; the product was imported as a draft"))
        self._keep_price(parsed, row)
        read_level(parsed, fields, self.columns.header.get("stock", "Stock"), row.line)
        return Failure(row.problems) if row.problems else parsed

    def _draft(self, parsed: ParsedProduct, row: RowReader, column: str, reason: str) -> None:
        """Make a new product a draft. An existing one keeps its status, unless the row hides it."""
        if (parsed.if_new | parsed.fields).get("status") == Product.Status.ACTIVE:
            parsed.warn_if_new(self.columns.header[column], reason, row.line)
            parsed.fields.pop("status", None)
        parsed.if_new["status"] = Product.Status.DRAFT

    def _keep_price(self, parsed: ParsedProduct, row: RowReader) -> None:
        if "regular price" in self.columns and not row["regular price"]:
            reason = _("is empty; an existing product keeps its price, and its status if that is active here")
            parsed.warn_once_if_updated(self.columns.header["regular price"], reason, row.line)

    def _product(self, row: RowReader) -> ParsedProduct:
        """The fields that simple and variable products share."""
        fields: dict[str, Any] = {}
        row.read_into(fields, self.product_mappings)
        source_id = row.read("id", parsers.integer(0, MAX_ID, blank=None))
        if row["published"]:
            published = row["published"].lower() in ("1", "true", "1.0")
            fields["status"] = Product.Status.ACTIVE if published else Product.Status.DRAFT
        if self.unit and any(fields.get(side) for side in _SIDES):
            fields["dimension_unit"] = self.unit
        elif all(side in self.columns for side in _SIDES):
            fields["dimension_unit"] = None
        read_stock(row, fields)
        slug = parsers.slug(row["slug"]) if row["slug"] else ""
        keys = Keys(source_id or None, slug, fields.get("sku", ""), fields.get("name", ""))
        parsed = ParsedProduct(row.line, keys, fields)
        parsed.slug = parsed.keys.slug or rules.slug_of(row["name"], fallback="product")
        is_blank = "published" in self.columns and not row["published"]
        parsed.if_new["status"] = Product.Status.DRAFT if is_blank else Product.Status.ACTIVE
        if not row["source"]:
            parsed.if_new["legacy_source_id"] = source_id or None
        if "name" not in self.columns:
            parsed.refusal_if_new = _("a new product needs the column Name")
        self._relations(row, parsed)
        if self.seo.members:
            self.seo.read(row, parsed)
        self.columns_in_languages.read(row, parsed)
        self.translated.add_to(parsed, row)
        if self.attributes:
            attributes = self._attributes(row, parsed)
            fields["attributes"] = [{"name": name, "values": values} for name, values in attributes]
            parsed.merges_attributes = True
            parsed.attributes_are_partial = self.lacks_attributes or len(attributes) == len(self.attributes)
        return parsed

    def _relations(self, row: RowReader, parsed: ParsedProduct) -> None:
        if "categories" in self.columns:
            parsed.categories = list(row.read("categories", category_paths, ()))
        if "images" in self.columns:
            parsed.media = self._media(row, parsed)
        if "tax class" in self.columns:
            word = row.read("tax class", parsers.decoded(200), "")
            parsed.related_names["tax_class"] = None if word.lower() in ("", "standard", "parent") else word
        if "brands" in self.columns:
            brands = row.read("brands", category_paths, ())
            parsed.related_names["brand"] = brands[0].nodes[-1].name if brands else None
        for column, kind in self.related:
            references = row.read(column, product_references, [])
            parsed.related[kind] = ParsedRelated(self.columns.header[column], references)

    def _media(self, row: RowReader, parsed: ParsedProduct) -> list[ParsedMedia]:
        urls = []
        for part in _IMAGE_COMMA.split(row["images"]):
            if part.lower().startswith(("http://", "https://")):
                urls.append(row.read_part("images", parsers.url, part.strip(" ,")))
            elif part:
                text = _("%(part)s is not a URL; ignored")
                parsed.warn(self.columns.header["images"], text % {"part": quoted(part)}, row.line)
        return [ParsedMedia(url) for url in dict.fromkeys(urls) if url]

    def _attributes(self, row: RowReader, parsed: ParsedProduct) -> list[tuple[str, list[str]]]:
        found = []
        for number in self.attributes:
            if name := row.read(f"attribute {number} name", parsers.decoded(200)):
                found.append((name, row.read(f"attribute {number} values", texts, [])))
            elif row[f"attribute {number} values"]:
                header = self.columns.header[f"attribute {number} values"]
                parsed.warn(header, _("is the value of an attribute without a name; not imported"), row.line)
        return found

    def family(self, rows: list[RowReader]) -> Iterator[ReadResult]:
        """A variable product with its variations; parents that repeat it come after as products of their own."""
        parents = [row for row in rows if self.kind_of(row) == "variable"]
        variations = [row for row in rows if self.kind_of(row) == "variation"]
        parsed = self._product(parents[0]) if parents else self._existing_parent(variations[0])
        problems = list(parents[0].problems) if parents else []
        found: list[ParsedVariant] = []
        variation_values: dict[str, list[str]] = {}
        for row in variations:
            found.append(self.variation(parsed, row, parents[0] if parents else None, variation_values))
            problems += row.problems
        parsed.variants = without_repeats(found)
        if parents:
            self._finish_parent(parsed, parents[0], variations, variation_values)
        problems += problems_of_repeated_options(parsed.variants)
        parsed.refusal_if_new = parsed.refusal_if_new or refusal_without_options(parsed.variants)
        yield Failure(problems) if problems else parsed
        for row in parents[1:]:
            repeated = self._product(row)
            yield Failure(row.problems) if row.problems else repeated

    def _existing_parent(self, row: RowReader) -> ParsedProduct:
        reference = row["parent"]
        kind, value = parent_reference(reference).split(":", 1)
        keys = Keys(sku=value)
        if kind == "id":
            # No product has the id 0.
            keys = Keys(int(value) if value.isascii() and value.isdigit() and len(value) < 17 else 0)
        text = _("there is no variable product %(reference)s in the file or the shop")
        return ParsedProduct(row.line, keys, {}, refusal_if_new=text % {"reference": quoted(reference)})

    def variation(
        self, parsed: ParsedProduct, row: RowReader, parent: RowReader | None, variation_values: dict[str, list[str]]
    ) -> ParsedVariant:
        self.translated.add_to(parsed, row)
        spellings = {item["name"].casefold(): item["name"] for item in parsed.fields.get("attributes", [])}
        values: dict[str, str] = {}
        attributes = self._attributes(row, parsed)
        for name, chosen in attributes:
            name = spellings.get(name.casefold(), name)
            variation_values.setdefault(name, [])
            # A blank value means any value, for which the name is left out.
            if chosen:
                values[name] = ", ".join(chosen)
                variation_values[name].append(values[name])
        fields: dict[str, Any] = {}
        row.read_into(fields, self.variant_mappings)
        name = row.read(
            "name", lambda value: parsing.check_text((" / ".join(values.values()) or value)[: LIMITS[Variant]["name"]])
        )
        if attributes:
            fields["name"] = name
        source_id = row.read("id", parsers.integer(0, MAX_ID, blank=None))
        if source_id and not row["source"]:
            fields["legacy_source_id"] = source_id
        if row["published"]:
            # -1 only repeats that the parent is a draft; 0 is a deactivated variation.
            fields["is_active"] = row["published"] != "0"
        read_variation_stock(parsed, row, parent, fields, self.columns)
        images = self._media(row, parsed) if "images" in self.columns else []
        variant = ParsedVariant(
            row.line,
            values,
            fields,
            images[0].url if images else None,
            "images" in self.columns,
            external_id=None if row["source"] else source_id or None,
            # Without names of attributes, an existing variation keeps its options and its name.
            states_options=bool(attributes),
            if_new={"name": name},
        )
        if self.prices.columns:
            fields[STATED] = self.prices.read(row, parsed)
        if "regular price" in self.columns and not (row["regular price"] or row["sale price"]):
            reason = _("there is no price; the variation was imported as inactive")
            parsed.warn_if_new(self.columns.header["regular price"], reason, row.line)
            # An existing one stays what it is, unless the row switches it off.
            fields.pop("is_active" if fields.get("is_active") else "", None)
            variant.if_new["is_active"] = False
        self._keep_price(parsed, row)
        return variant

    def _finish_parent(
        self,
        parsed: ParsedProduct,
        row: RowReader,
        variations: list[RowReader],
        variation_values: dict[str, list[str]],
    ) -> None:
        fields, variants = parsed.fields, parsed.variants or []
        fields["type"] = Product.Type.VARIABLE
        if "type" in self.columns:
            settle_shipping(parsed, row, variations)
        if self.attributes:
            fields["attributes"] = with_variations(fields.get("attributes", []), variation_values)
            cells = [
                (row[f"attribute {number} name"], row[f"attribute {number} default"]) for number in self.attributes
            ]
            preselect(variants, {unescape(name).casefold(): unescape(text).casefold() for name, text in cells if text})
        read_level(parsed, fields, self.columns.header.get("stock", "Stock"), row.line)

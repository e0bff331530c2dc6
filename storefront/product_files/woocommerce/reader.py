"""WooCommerce's product CSV: one row a product, variations in rows of their own, before or after their parents.

Weights become kilograms and lengths centimetres or inches, by the units in the headers. Products without a price, and
grouped and external products, which this shop does not support, are imported as drafts with a warning.
"""

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import Product, RelatedProduct, Variant
from storefront.catalogue.parsing import quoted
from storefront.product_files import parsers
from storefront.product_files.csv_reading import Row, Table
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
from storefront.product_files.rows import ColumnIndex, FieldMapping, RowReader, UncarriedColumns, mappings_in_file
from storefront.product_files.woocommerce import alone
from storefront.product_files.woocommerce.headers import DISTINCTIVE, units
from storefront.product_files.woocommerce.headers import column_of as column_of
from storefront.product_files.woocommerce.headers import harmless_values as harmless_values
from storefront.product_files.woocommerce.headers import refusal as refusal
from storefront.product_files.woocommerce.headers import warnings as warnings
from storefront.product_files.woocommerce.keys import is_variation, parent_reference, store_parent
from storefront.product_files.woocommerce.keys import skus as skus
from storefront.product_files.woocommerce.keys import stated_source as stated_source
from storefront.product_files.woocommerce.parsers import (
    category_paths,
    download_limit,
    paragraphs,
    product_references,
    split_list,
    texts,
)
from storefront.product_files.woocommerce.prices import cheapest_sale, read_price
from storefront.product_files.woocommerce.seo import SeoColumns
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
_SIDES = ("length", "width", "height")
_IMAGE_COMMA = re.compile(r",\s*(?=https?://)")


def recognises(columns: Collection[str | None]) -> bool:
    """Returns True if a file with these columns is WooCommerce's."""
    if not any(name in columns for name in ("id", "sku", "name")):
        return False
    # A list of SKUs and stock, if it has no other program's headers.
    return any(name in columns for name in DISTINCTIVE) or ({"sku", "stock"} <= {*columns} and None not in columns)


def read(table: Table, columns: ColumnIndex, *, shop: Shop, now: datetime) -> Iterator[ReadResult]:
    """Every product of the file: simple ones in file order, then variable ones, after all rows have been read."""
    reader, uncarried = _Reader(columns, shop, now), UncarriedColumns(table.headers, harmless_values)
    with RowStore() as store:
        for found in table.rows():
            if not isinstance(found, Row):
                yield found
                continue
            if uncarried.pending:
                yield from uncarried.notices(found)
            row = RowReader(columns, found.line, found.values)
            kind = reader.kind_of(row)
            if kind == "variation" and row["parent"]:
                store.add(parent_reference(row["parent"]), row.line, row.values)
            elif kind == "variation":
                yield alone.lone_variation(reader, row)
            elif kind == "variable":
                store_parent(store, row)
            elif kind:
                yield alone.single_or_variation(reader, row, kind)
            else:
                yield Failure(row.problems)
        for group in store.groups():
            if isinstance(group, Failure):
                yield group
            else:
                yield from reader.family([RowReader(columns, line, values) for line, values in group[1]])


def product_of(columns: ColumnIndex, rows: list[list[str]], *, shop: Shop, now: datetime) -> ReadResult:
    """The one product of these rows: that of a simple product, or those of a variable one and its variations."""
    reader = _Reader(columns, shop, now)
    read = [RowReader(columns, line, values) for line, values in enumerate(rows, 1)]
    kind = reader.kind_of(read[0])
    return next(reader.family(read)) if kind == "variable" else reader.single(read[0], kind)


class _Reader:
    """Reads the rows of one file with the row columns."""

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        self.columns, self.shop, self.now = columns, shop, now
        self.seo = SeoColumns(columns, shop.name)
        self.related = [(column, kind) for column, kind in RELATED.items() if column in columns]
        limits = LIMITS[Product]
        weight, unit, length = units(columns.header)
        self.priced = "regular price" in columns or "sale price" in columns
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
                ("name", "name", parsers.required(parsers.text(limits["name"]))),
                ("short description", "short_description", paragraphs),
                ("description", "description", paragraphs),
                ("featured", "is_featured", parsers.boolean(blank=False)),
                ("low stock", "low_stock_threshold", parsers.integer(blank=0)),
                ("weight", "weight", parsing.measure(weight, blank=Decimal("0.000"))),
                ("length", "length", parsing.measure(length)),
                ("width", "width", parsing.measure(length)),
                ("height", "height", parsing.measure(length)),
                ("download limit", "max_downloads", download_limit),
                ("download expiry", "download_expiry_days", download_limit),
                ("tags", "tags", lambda value: [parsing.check_text(tag) for tag in split_list(value)]),
                ("visibility", "exclude_from_catalog", lambda value: value.lower() in ("hidden", "search")),
                ("tax status", "is_taxable", lambda value: value.lower() not in ("none", "shipping", "false", "0")),
            ],
        )
        self.variant_mappings = mappings_in_file(columns, [*self.common, ("weight", "weight", parsing.measure(weight))])
        self.unit = unit
        self.attributes = [
            number
            for number in range(1, 200)
            if f"attribute {number} name" in columns and f"attribute {number} values" in columns
        ]

    def kind_of(self, row: RowReader) -> str:
        """The row's base type; empty, with a problem recorded, if the type is unknown."""
        words = {word.strip() for word in row["type"].lower().split(",")} - {"", "downloadable", "virtual"}
        kind = next((name for name in ("variation", "variable", "grouped", "external") if name in words), "simple")
        if words - set(TYPES):
            row.refuse("type", f"expected one of {', '.join(TYPES)}, found {quoted(row['type'])}")
            return ""
        return "variation" if is_variation(row) else kind

    def single(self, row: RowReader, kind: str) -> ParsedProduct | Failure:
        """A product that is a single row."""
        parsed = self._product(row)
        fields, words = parsed.fields, row["type"].lower()
        if "type" in self.columns:
            fields["type"] = "digital" if "downloadable" in words else "simple"
            fields["requires_shipping"] = "virtual" not in words
        if self.priced:
            read_price(row, parsed, fields, shop=self.shop, now=self.now)
        if kind in ("grouped", "external"):
            self._draft(parsed, row, "type", f"{kind} products are not supported; imported as a draft")
        elif self.priced and not (row["regular price"] or row["sale price"]):
            self._draft(parsed, row, "regular price", "there is no price; the product was imported as a draft")
        elif not self.priced:
            parsed.refusal_if_new = "a new product needs a price column"
        parsers.settle_stock(parsed, fields, self.columns.header.get("stock", "Stock"), row.line)
        return Failure(row.problems) if row.problems else parsed

    def _draft(self, parsed: ParsedProduct, row: RowReader, column: str, reason: str) -> None:
        if (parsed.if_new | parsed.fields).get("status") == Product.Status.ACTIVE:
            parsed.warn(self.columns.header.get(column, "Regular price"), reason, row.line)
        if "published" in self.columns or column == "regular price":
            parsed.fields["status"] = Product.Status.DRAFT
        parsed.if_new["status"] = Product.Status.DRAFT

    def _product(self, row: RowReader) -> ParsedProduct:
        """The fields that simple and variable products share."""
        fields: dict[str, Any] = {}
        row.read_into(fields, self.product_mappings)
        source_id = row.read("id", parsers.integer(0, MAX_ID, blank=None))
        if "published" in self.columns:
            published = row["published"].lower() in ("1", "true", "1.0")
            fields["status"] = Product.Status.ACTIVE if published else Product.Status.DRAFT
        if self.unit:
            fields["dimension_unit"] = self.unit if any(fields.get(side) for side in _SIDES) else None
        self._stock(row, fields)
        slug = parsers.slug(row["slug"]) if row["slug"] else ""
        keys = Keys(source_id or None, slug, fields.get("sku", ""), fields.get("name", ""))
        parsed = ParsedProduct(row.line, keys, fields)
        parsed.slug = parsed.keys.slug or rules.slug_of(row["name"], fallback="product")
        parsed.if_new["status"] = Product.Status.ACTIVE
        if not row["source"]:
            parsed.if_new["legacy_source_id"] = source_id or None
        if "name" not in self.columns:
            parsed.refusal_if_new = "a new product needs the column Name"
        self._relations(row, parsed)
        if self.seo.members:
            self.seo.read(row, parsed)
        if attributes := self._attributes(row):
            fields["attributes"] = [{"name": name, "values": values} for name, values in attributes]
        elif self.attributes:
            fields["attributes"] = []
        return parsed

    def _relations(self, row: RowReader, parsed: ParsedProduct) -> None:
        if "categories" in self.columns:
            parsed.categories = list(row.read("categories", category_paths, ()))
        if "images" in self.columns:
            parsed.media = self._media(row, parsed)
        if "tax class" in self.columns:
            word = row.read("tax class", parsers.text(200), "")
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
                parsed.warn(self.columns.header["images"], f"{quoted(part)} is not a URL; ignored", row.line)
        return [ParsedMedia(url) for url in dict.fromkeys(urls) if url]

    def _attributes(self, row: RowReader) -> list[tuple[str, list[str]]]:
        found = []
        for number in self.attributes:
            if name := row.read(f"attribute {number} name", parsers.text(200)):
                found.append((name, row.read(f"attribute {number} values", texts, [])))
        return found

    def _stock(self, row: RowReader, fields: dict[str, Any]) -> None:
        if "backorders" in self.columns:
            fields["allow_backorders"] = row["backorders"].lower() in ("1", "yes", "true", "notify")
        stated = row["in stock"].lower()
        if row["stock"] and row["stock"].lower() != "parent":
            fields["track_inventory"] = True
            fields["stock_qty"] = row.read("stock", parsers.stock)
        elif "stock" in self.columns or "in stock" in self.columns:
            # WooCommerce does not count this stock: it only states whether the product is in stock.
            fields["track_inventory"] = stated in ("0", "no", "false", "outofstock")
            if fields["track_inventory"]:
                fields["stock_qty"] = Decimal(0)
            if stated in ("backorder", "onbackorder"):
                fields["allow_backorders"] = True

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
        reason = f"there is no variable product {quoted(reference)} in the file or the shop"
        return ParsedProduct(row.line, keys, {}, refusal_if_new=reason)

    def variation(
        self, parsed: ParsedProduct, row: RowReader, parent: RowReader | None, variation_values: dict[str, list[str]]
    ) -> ParsedVariant:
        spellings = {item["name"].casefold(): item["name"] for item in parsed.fields.get("attributes", [])}
        values: dict[str, str] = {}
        attributes = self._attributes(row)
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
        if "published" in self.columns:
            # -1 only repeats that the parent is a draft; 0 is a deactivated variation.
            fields["is_active"] = row["published"] != "0"
        self._variation_stock(parsed, row, parent, fields)
        if self.priced:
            read_price(row, parsed, fields, shop=self.shop, now=self.now)
            if not (row["regular price"] or row["sale price"]):
                parsed.warn(
                    self.columns.header.get("regular price", "Regular price"),
                    "there is no price; the variation was imported as inactive",
                    row.line,
                )
                fields["is_active"] = False
        images = self._media(row, parsed) if "images" in self.columns else []
        return ParsedVariant(
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

    def _variation_stock(
        self, parsed: ParsedProduct, row: RowReader, parent: RowReader | None, fields: dict[str, Any]
    ) -> None:
        self._stock(row, fields)
        if row["stock"].lower() == "parent" and parent:
            shared: dict[str, Any] = {}
            self._stock(parent, shared)
            fields |= shared
            parsed.warn(
                self.columns.header["stock"],
                "shared its parent's stock; imported with the same stock of its own",
                row.line,
            )
        parsers.settle_stock(parsed, fields, self.columns.header.get("stock", "Stock"), row.line)

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
        prices = [
            variant.fields["price"] for variant in variants if variant.fields.get("is_active", True) and self.priced
        ]
        if prices:
            # Lists sort by the cheapest variant's price.
            fields["price"] = min(prices)
            fields |= cheapest_sale(variants, fields["price"])
        if self.attributes:
            fields["attributes"] = with_variations(fields.get("attributes", []), variation_values)
            defaults = {
                row[f"attribute {number} name"].casefold(): row[f"attribute {number} default"].casefold()
                for number in self.attributes
                if row[f"attribute {number} default"]
            }
            preselect(variants, defaults)
        parsers.settle_stock(parsed, fields, self.columns.header.get("stock", "Stock"), row.line)

"""WooCommerce's product CSV: one row a product, variations in rows of their own, before or after their parents.

Weights become kilograms and lengths centimetres or inches, by the units in the headers. What cannot be bought there
(no price) or is not sold here (grouped and external products) comes in as a draft, with a warning.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from storefront.catalogue import cells, rules
from storefront.catalogue.cells import LIMITS, Parse, shown
from storefront.catalogue.delimited import Table, UnreadableFile
from storefront.catalogue.incoming import Failure, MediaRecord, Problem, ProductRecord, Read, VariantRecord
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.sheet import Cells, Columns, plan_for
from storefront.catalogue.spool import Spool
from storefront.catalogue.woocommerce_cells import category_paths, limit, listed, moment, paragraphs, texts, unguarded
from storefront.catalogue.woocommerce_headers import DISTINCTIVE, KILOGRAMS, LENGTHS, unit_of
from storefront.kit.money import ZERO
from storefront.shops.models import Shop

EXPECTED = "ID, Type, SKU, Name, Published, Regular price, Categories"

LARGEST_ID = 2**62
TYPES = ("simple", "variable", "variation", "grouped", "external")
_IMAGE_COMMA = re.compile(r",\s*(?=https?://)")


def recognises(columns: Columns) -> bool:
    """Whether a file with these columns is WooCommerce's."""
    return any(name in columns for name in ("id", "sku", "name")) and any(name in columns for name in DISTINCTIVE)


def read(table: Table, columns: Columns, *, shop: Shop, now: datetime) -> Iterator[Read]:
    """Every product of the file: simple ones as they come, variable ones once all rows have been seen."""
    reader = _Reader(columns, shop, now)
    with Spool() as spool:
        for row in table.rows():
            if isinstance(row, Failure):
                yield row
                continue
            given = Cells(columns, row.line, unguarded(row.cells))
            kind = reader.kind_of(given)
            if kind == "variation":
                spool.add(_parent_reference(given["parent"]), row.line, given.cells)
            elif kind == "variable":
                _set_parent_aside(spool, given)
            elif kind:
                yield reader.single(given, kind)
            else:
                yield Failure(given.problems)
        for _, rows in spool.groups():
            yield from reader.family([Cells(columns, line, row) for line, row in rows])


def _set_parent_aside(spool: Spool, given: Cells) -> None:
    group = f"row:{given.line}"
    spool.add(group, given.line, given.cells)
    if given["id"]:
        spool.alias(f"id:{given['id']}", group)
    if given["sku"]:
        spool.alias(f"sku:{given['sku']}", group)


def _parent_reference(cell: str) -> str:
    return f"id:{cell[3:].strip()}" if cell[:3].lower() == "id:" else f"sku:{cell}"


class _Reader:
    """Reads the rows of one file, whose columns settle what is to be read."""

    def __init__(self, columns: Columns, shop: Shop, now: datetime) -> None:
        self.columns, self.now, self.zone = columns, now, ZoneInfo(shop.timezone)
        limits = LIMITS[Product]
        weight, unit, length = self._units()
        self.priced = "regular price" in columns or "sale price" in columns
        self.common: list[tuple[str, str, Parse]] = [
            ("barcode", "barcode", cells.text_or_none(limits["barcode"])),
            ("cost", "cost_price", cells.money),
            ("sku", "sku", cells.text(limits["sku"])),
            ("position", "sort_order", cells.integer()),
        ]
        self.product_plan = plan_for(
            columns,
            [
                *self.common,
                ("name", "name", cells.required(cells.text(limits["name"]))),
                ("short description", "short_description", paragraphs),
                ("description", "description", paragraphs),
                ("featured", "is_featured", cells.boolean(blank=False)),
                ("low stock", "low_stock_threshold", cells.integer(blank=0)),
                ("weight", "weight", cells.measure(weight, blank=Decimal("0.000"))),
                ("length", "length", cells.measure(length)),
                ("width", "width", cells.measure(length)),
                ("height", "height", cells.measure(length)),
                ("download limit", "max_downloads", limit),
                ("download expiry", "download_expiry_days", limit),
                ("tags", "tags", lambda cell: [cells.check_text(tag) for tag in listed(cell)]),
                ("visibility", "exclude_from_catalog", lambda cell: cell.lower() in ("hidden", "search")),
                ("tax status", "is_taxable", lambda cell: cell.lower() not in ("none", "shipping", "false", "0")),
            ],
        )
        self.variant_plan = plan_for(columns, [*self.common, ("weight", "weight", cells.measure(weight))])
        self.unit = unit
        self.attributes = [
            number
            for number in range(1, 200)
            if f"attribute {number} name" in columns and f"attribute {number} values" in columns
        ]

    def _units(self) -> tuple[Decimal, str | None, Decimal]:
        header = self.columns.header
        weight = unit_of(header.get("weight", "")) or "kg"
        named = {unit_of(header[name]) for name in ("length", "width", "height") if name in header}
        length = next(iter(named - {""}), "cm")
        if weight not in KILOGRAMS or length not in LENGTHS or len(named - {""}) > 1:
            raise UnreadableFile(
                f"The header's units are not known; expected one of {', '.join(KILOGRAMS)} for the weight and one "
                f"of {', '.join(LENGTHS)} for length, width and height."
            )
        unit, factor = LENGTHS[length]
        return KILOGRAMS[weight], unit if named else None, factor

    def kind_of(self, given: Cells) -> str:
        """The row's base type; empty, with the reason noted, where it has none that is known."""
        cell = given["type"].lower()
        if cell in TYPES:
            return cell if cell != "variation" or given["parent"] else self._no_parent(given)
        words = {word.strip() for word in cell.split(",")} - {"", "downloadable", "virtual"}
        if words - set(TYPES):
            given.refuse("type", f"expected one of {', '.join(TYPES)}, found {shown(given['type'])}")
            return ""
        kind = next((name for name in ("variation", "variable", "grouped", "external") if name in words), "simple")
        return kind if kind != "variation" or given["parent"] else self._no_parent(given)

    def _no_parent(self, given: Cells) -> str:
        given.refuse("parent", "is empty; a variation needs its parent's SKU, or id: and its ID")
        return ""

    def single(self, given: Cells, kind: str) -> Read:
        """A product that is one row."""
        record = self._product(given)
        fields, words = record.fields, given["type"].lower()
        if "type" in self.columns:
            fields["type"] = "digital" if "downloadable" in words else "simple"
            fields["requires_shipping"] = "virtual" not in words
        if self.priced:
            self._price(given, record, fields)
        if kind in ("grouped", "external"):
            self._draft(record, given, "type", f"{kind} products are not sold here; kept as a draft")
        elif self.priced and not (given["regular price"] or given["sale price"]):
            self._draft(record, given, "regular price", "there is no price; kept as a draft")
        elif not self.priced:
            record.only_update = "without a price column a product cannot be made"
        cells.settle_stock(record, fields, self.columns.header.get("stock", "Stock"), given.line)
        return Failure(given.problems) if given.problems else record

    def _draft(self, record: ProductRecord, given: Cells, column: str, reason: str) -> None:
        if (record.if_new | record.fields).get("status") == Product.Status.ACTIVE:
            record.warn(self.columns.header.get(column, "Regular price"), reason, given.line)
        if "published" in self.columns or column == "regular price":
            record.fields["status"] = Product.Status.DRAFT
        record.if_new["status"] = Product.Status.DRAFT

    def _product(self, given: Cells) -> ProductRecord:
        """What simple and variable products have in common."""
        fields: dict[str, Any] = {}
        given.read_into(fields, self.product_plan)
        source_id = given.read("id", cells.integer(0, LARGEST_ID, blank=None))
        if "published" in self.columns:
            published = given["published"].lower() in ("1", "true", "1.0")
            fields["status"] = Product.Status.ACTIVE if published else Product.Status.DRAFT
        if self.unit:
            fields["dimension_unit"] = self.unit if any(fields.get(side) for side in _SIDES) else None
        self._stock(given, fields)
        record = ProductRecord(
            given.line, [], fields, if_new={"status": Product.Status.ACTIVE, "legacy_source_id": source_id or None}
        )
        if "name" not in self.columns:
            record.only_update = "without a Name column a product cannot be made"
        self._identify(given, record, source_id)
        self._relations(given, record)
        if attributes := self._attributes(given):
            fields["attributes"] = [{"name": name, "values": values} for name, values in attributes]
        elif self.attributes:
            fields["attributes"] = []
        return record

    def _identify(self, given: Cells, record: ProductRecord, source_id: int | None) -> None:
        sku = record.fields.get("sku")
        if source_id:
            record.keys.append(("legacy_source_id", source_id))
        if sku:
            record.keys.append(("sku", sku))
        stated = given["slug"]
        record.slug = cells.slug(stated) if stated else rules.slug_of(given["name"], fallback="product")
        if stated or not record.keys:
            record.keys.append(("slug", record.slug))

    def _relations(self, given: Cells, record: ProductRecord) -> None:
        if "categories" in self.columns:
            record.categories = list(given.read("categories", category_paths, ()))
        if "images" in self.columns:
            record.media = self._media(given, record)
        if "tax class" in self.columns:
            word = given.read("tax class", cells.text(200), "")
            record.named["tax_class"] = None if word.lower() in ("", "standard", "parent") else word
        if "brands" in self.columns:
            brands = given.read("brands", category_paths, ())
            record.named["brand"] = brands[0].nodes[-1].name if brands else None

    def _media(self, given: Cells, record: ProductRecord) -> list[MediaRecord]:
        urls = []
        for part in _IMAGE_COMMA.split(given["images"]):
            if part.lower().startswith(("http://", "https://")):
                urls.append(given.fit("images", cells.address, part.strip(" ,")))
            elif part:
                record.warn(self.columns.header["images"], f"{shown(part)} is not an address; left out", given.line)
        return [MediaRecord(url) for url in dict.fromkeys(urls) if url]

    def _attributes(self, given: Cells) -> list[tuple[str, list[str]]]:
        found = []
        for number in self.attributes:
            if name := given.read(f"attribute {number} name", cells.text(200)):
                found.append((name, given.read(f"attribute {number} values", texts, [])))
        return found

    def _stock(self, given: Cells, fields: dict[str, Any]) -> None:
        if "backorders" in self.columns:
            fields["allow_backorders"] = given["backorders"].lower() in ("1", "yes", "true", "notify")
        stated = given["in stock"].lower()
        if given["stock"] and given["stock"].lower() != "parent":
            fields["track_inventory"] = True
            fields["stock_qty"] = given.read("stock", cells.stock)
        elif "stock" in self.columns or "in stock" in self.columns:
            # Not counted there: in stock or not is all that is known.
            fields["track_inventory"] = stated in ("0", "no", "false", "outofstock")
            if fields["track_inventory"]:
                fields["stock_qty"] = Decimal(0)
            if stated in ("backorder", "onbackorder"):
                fields["allow_backorders"] = True

    def _price(self, given: Cells, record: ProductRecord, fields: dict[str, Any]) -> None:
        """The sale price while the sale runs, with the regular one as the former; else the regular price."""
        regular = given.read("regular price", cells.money_or_none)
        sale = given.read("sale price", cells.money_or_none)
        if sale is not None and not self._sale_runs(given):
            record.warn(self.columns.header["sale price"], "the sale does not run today; left out", given.line)
            sale = None
        fields["price"] = regular or ZERO if sale is None else sale
        fields["compare_price"] = ZERO if sale is None else regular or ZERO

    def _sale_runs(self, given: Cells) -> bool:
        starts = given.read("sale starts", lambda cell: moment(cell, self.zone))
        ends = given.read("sale ends", lambda cell: moment(cell, self.zone, end=True))
        return (starts is None or starts <= self.now) and (ends is None or self.now <= ends)

    def family(self, rows: list[Cells]) -> Iterator[Read]:
        """A variable product with its variations; parents that repeat it come after as products of their own."""
        parents = [given for given in rows if self.kind_of(given) == "variable"]
        variations = [given for given in rows if self.kind_of(given) == "variation"]
        record = self._product(parents[0]) if parents else self._standing_parent(variations[0])
        problems = list(parents[0].problems) if parents else []
        record.variants = []
        axes: dict[str, list[str]] = {}
        for given in variations:
            self._add_variation(record, given, parents[0] if parents else None, axes)
            problems += given.problems
        if parents:
            self._finish_parent(record, parents[0], axes)
        problems += _repeated(record.variants)
        yield Failure(problems) if problems else record
        for given in parents[1:]:
            repeated = self._product(given)
            yield Failure(given.problems) if given.problems else repeated

    def _standing_parent(self, given: Cells) -> ProductRecord:
        reference = given["parent"]
        kind, value = _parent_reference(reference).split(":", 1)
        keys: list[tuple[str, Any]] = [("sku", value)]
        if kind == "id":
            keys = [("legacy_source_id", int(value) if value.isascii() and value.isdigit() and len(value) < 17 else 0)]
        reason = f"no variable product {shown(reference)} is in the file or the shop"
        return ProductRecord(given.line, keys, {}, only_update=reason)

    def _add_variation(
        self, record: ProductRecord, given: Cells, parent: Cells | None, axes: dict[str, list[str]]
    ) -> None:
        spelt = {item["name"].casefold(): item["name"] for item in record.fields.get("attributes", [])}
        values: dict[str, str] = {}
        for name, chosen in self._attributes(given):
            name = spelt.get(name.casefold(), name)
            axes.setdefault(name, [])
            # A blank value means any, which is said by leaving the name out.
            if chosen:
                values[name] = ", ".join(chosen)
                axes[name].append(values[name])
        fields: dict[str, Any] = {}
        given.read_into(fields, self.variant_plan)
        fields["name"] = given.read(
            "name", lambda cell: cells.check_text((" / ".join(values.values()) or cell)[: LIMITS[Variant]["name"]])
        )
        if source_id := given.read("id", cells.integer(0, LARGEST_ID, blank=None)):
            fields["legacy_source_id"] = source_id
        if "published" in self.columns:
            # -1 only mirrors a draft parent; 0 is a variation that was switched off.
            fields["is_active"] = given["published"] != "0"
        self._variation_stock(record, given, parent, fields)
        if self.priced:
            self._price(given, record, fields)
            if not (given["regular price"] or given["sale price"]):
                record.warn(
                    self.columns.header.get("regular price", "Regular price"),
                    "there is no price; kept inactive",
                    given.line,
                )
                fields["is_active"] = False
        images = self._media(given, record) if "images" in self.columns else []
        variant = VariantRecord(given.line, values, fields, images[0].url if images else None, "images" in self.columns)
        if not any(_same(variant, other) for other in record.variants or []):
            record.variants.append(variant)  # type: ignore[union-attr]

    def _variation_stock(
        self, record: ProductRecord, given: Cells, parent: Cells | None, fields: dict[str, Any]
    ) -> None:
        self._stock(given, fields)
        if given["stock"].lower() == "parent" and parent:
            shared: dict[str, Any] = {}
            self._stock(parent, shared)
            fields |= shared
            record.warn(
                self.columns.header["stock"],
                "shares its parent's stock there; here it got as much of its own",
                given.line,
            )
        cells.settle_stock(record, fields, self.columns.header.get("stock", "Stock"), given.line)

    def _finish_parent(self, record: ProductRecord, given: Cells, axes: dict[str, list[str]]) -> None:
        fields, variants = record.fields, record.variants or []
        fields["type"] = Product.Type.VARIABLE
        if "type" in self.columns:
            fields["requires_shipping"] = "virtual" not in given["type"].lower()
        prices = [
            variant.fields["price"] for variant in variants if variant.fields.get("is_active", True) and self.priced
        ]
        if prices:
            # So that sorting by price puts it where its cheapest variant belongs.
            fields["price"] = min(prices)
        if self.attributes:
            fields["attributes"] = _with_axes(fields.get("attributes", []), axes)
            self._preselect(given, variants)
        cells.settle_stock(record, fields, self.columns.header.get("stock", "Stock"), given.line)

    def _preselect(self, given: Cells, variants: list[VariantRecord]) -> None:
        wanted = {
            given[f"attribute {number} name"].casefold(): given[f"attribute {number} default"].casefold()
            for number in self.attributes
            if given[f"attribute {number} default"]
        }
        for variant in variants if wanted else []:
            chosen = {name.casefold(): value.casefold() for name, value in variant.option_values.items()}
            if all(wanted.get(name) == value for name, value in chosen.items()):
                variant.is_default = True
                return


_SIDES = ("length", "width", "height")


def _same(variant: VariantRecord, other: VariantRecord) -> bool:
    """Whether a row repeats another, as where a file was put together twice."""
    return variant.key == other.key and variant.fields.get("sku") == other.fields.get("sku")


def _repeated(variants: list[VariantRecord]) -> list[Problem]:
    first: dict[Any, int] = {}
    problems = []
    for variant in variants:
        if first.setdefault(variant.key, variant.line) != variant.line:
            reason = f"has the same options as the variation of line {first[variant.key]}"
            problems.append(Problem(variant.line, "", reason))
    return problems


def _with_axes(attributes: list[dict[str, Any]], axes: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The attributes, those marked that variations choose by."""
    named = {item["name"]: item for item in attributes}
    for name, values in axes.items():
        item = named.setdefault(name, {"name": name, "values": []})
        item["values"] = list(dict.fromkeys([*item["values"], *values]))
    return [item | {"variation": name in axes} for name, item in named.items()]

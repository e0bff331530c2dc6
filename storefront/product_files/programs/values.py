"""Fields of products and variants as the readers of other programs' exports build them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing, rules
from storefront.catalogue.models import Category, Product, Variant
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.money import ZERO
from storefront.product_files import parsers
from storefront.product_files.parsed_products import (
    CategoryNode,
    CategoryPath,
    Keys,
    ParsedMedia,
    ParsedProduct,
    ParsedVariant,
    Problem,
)
from storefront.product_files.parsers import LIMITS
from storefront.product_files.rows import KEEP, FieldMapping, RowReader
from storefront.product_files.stock_levels import read_level

MAX_OPTION_TEXT = 200
# A name as file stores give it, such as `a1b2c3_0d~mv2.jpg`.
_FILE_NAME = re.compile(r"[\w~.%+-]{1,200}\Z", re.ASCII)
_URL_BREAK = re.compile(r"(?<![\s,;|])[\s,;|]+(?=https?://)", re.IGNORECASE)


def product_mappings() -> list[FieldMapping]:
    """The columns of a product, as all of these readers name them."""
    limits = LIMITS[Product]
    return [
        ("name", "name", parsers.required(parsers.text(limits["name"]))),
        ("description", "description", parsing.html),
        ("short description", "short_description", parsing.html),
        ("meta title", "meta_title", parsers.text_or_none(limits["meta_title"])),
        ("meta description", "meta_description", lambda value: parsing.html(value) or None),
    ]


def sales_mappings(currency: str) -> list[FieldMapping]:
    """The columns of a variant, or of a product without variants."""
    limits = LIMITS[Variant]
    return [
        ("sku", "sku", parsers.text(limits["sku"])),
        ("barcode", "barcode", parsers.text_or_none(limits["barcode"])),
        ("cost", "cost_price", parsers.money(currency)),
    ]


def new_product(row: RowReader, fields: dict[str, Any], slug: str = "", **related: str | None) -> ParsedProduct:
    """A product of these fields that is active if it is new. `slug` is the one that the file states."""
    name = fields.get("name", "")
    parsed = ParsedProduct(
        row.line, Keys(slug=slug, name=name), fields, slug or rules.slug_of(name, fallback="product")
    )
    parsed.if_new["status"] = Product.Status.ACTIVE
    parsed.related_names |= related
    return parsed


def set_prices(
    parsed: ParsedProduct,
    row: RowReader,
    fields: dict[str, Any],
    price: Decimal | None,
    sale: Decimal | None,
    retail: Decimal | None = None,
) -> None:
    """Set the price, and the compare price if the file has a column of it: the regular price during a sale, or else a
    retail price above it. A sale that is not lower is left out with a warning. None for a price that is not stated."""
    if price is None:
        return
    columns = row.columns
    if sale and sale >= price:
        parsed.warn(columns.header["sale price"], _("is not lower than the regular price; ignored"), row.line)
    fields["price"] = sale if sale and sale < price else price
    warn_if_free(parsed, row, price)
    if "sale price" in columns or "retail price" in columns or "discount" in columns:
        above = price if fields["price"] < price else retail or ZERO
        fields["compare_price"] = above if above > fields["price"] else ZERO


def warn_if_free(parsed: ParsedProduct, row: RowReader, price: Decimal) -> None:
    """Add a warning for a price of 0, which programs also write where there is none."""
    if not price:
        parsed.warn(row.columns.header["price"], _("is 0; whoever orders it pays nothing"), row.line)


def set_stock(parsed: ParsedProduct, row: RowReader, variant: ParsedVariant, column: str, text: str | None) -> None:
    """Track the stock of this text of the column; None for what is not tracked. An empty one leaves an existing variant
    or product as it is, and tracks no stock of a new one."""
    fields = variant.fields if text != "" else variant.if_new
    fields["track_inventory"] = bool(text)
    fields["stock_qty"] = row.read_part(column, parsers.stock, text, ZERO) if text else ZERO
    read_level(parsed, fields, row.columns.header.get(column, column), row.line)


def category_paths(row: RowReader, column: str, paths: Iterable[Iterable[str]]) -> list[CategoryPath]:
    """The categories with these names, each from its root down."""
    parse = parsers.text(LIMITS[Category]["name"])
    found: dict[tuple[str, ...], CategoryPath] = {}
    for path in paths:
        names = [row.read_part(column, parse, step.strip(), "") for step in path if step.strip()]
        try:
            parsers.check_levels(names)
        except InvalidValue as unfit:
            row.refuse(column, str(unfit))
        if names:
            made = CategoryPath(tuple(map(CategoryNode, names)))
            found.setdefault(made.key, made)
    return list(found.values())


def listed(text: str, separators: str = ",") -> list[str]:
    """The texts of a list, without blanks and repeats."""
    parts = re.split(f"[{re.escape(separators)}]", text)
    return list(dict.fromkeys(stripped for part in parts if (stripped := part.strip())))


def tags(text: str) -> list[str]:
    return [parsing.check_text(tag) for tag in listed(text)]


def pictures(parsed: ParsedProduct, row: RowReader, columns: Iterable[str], base: str = "") -> list[ParsedMedia]:
    """The pictures in these columns, each by its URL. With `base`, the list is separated by semicolons,
    and a name without an address is one below it; else it is left out with a warning."""
    found: dict[str, None] = {}
    for column in columns:
        for part in listed(row[column], ";") if base else _URL_BREAK.split(row[column]):
            part = part.strip(" ,;|\n")
            if part and not part.lower().startswith(("https://", "http://")):
                if not base or not _FILE_NAME.match(part):
                    parsed.warn(
                        row.columns.header[column],
                        _("%(part)s is not a URL; ignored") % {"part": parsing.quoted(part)},
                        row.line,
                    )
                    continue
                part = base + part
            if url := row.read_part(column, parsers.url, part, ""):
                found[url] = None
    return [ParsedMedia(url) for url in found]


def make_simple(parsed: ParsedProduct, only: ParsedVariant) -> None:
    """Give a product without variants the fields of its only row."""
    fill_simple(parsed, only)
    parsed.fields["type"] = Product.Type.SIMPLE


def fill_simple(parsed: ParsedProduct, only: ParsedVariant) -> None:
    """Give a product the fields of its only row, which is read as that of the existing variant with its SKU, too. A row
    of a product with variants does not state what these cost and how many there are."""
    sold = {name: value for name, value in only.fields.items() if name not in ("name", "sort_order")}
    parsed.fields |= sold
    parsed.if_new |= only.if_new
    parsed.keys.sku = sold.get("sku", "")
    if parsed.keys.sku:
        variant = replace(only, option_values={}, fields=sold, states_options=False)
        warnings = list(parsed.warnings)
        parsed.as_variant = ParsedProduct(parsed.line, parsed.keys, {}, variants=[variant], warnings=warnings)
    if sold.keys() - {"sku"}:
        reason = _("the product has variants, which need columns of their options, or rows with their SKUs")
        parsed.if_variable = replace(parsed, problems=[Problem(parsed.line, "", reason)])


def set_own_sku(parsed: ParsedProduct, row: RowReader) -> None:
    """Give a product with variants the SKU that its own row has beside theirs, by which the next file finds it."""
    if "sku" in row.columns:
        parsed.fields["sku"] = parsed.keys.sku = row.read("sku", parsers.text(LIMITS[Product]["sku"]), "")


def option_text(row: RowReader, column: str, text: str) -> str:
    return row.read_part(column, parsers.text(MAX_OPTION_TEXT), text.strip(), "")


def new_variant(row: RowReader, values: dict[str, str], order: int) -> ParsedVariant:
    """A variant with these option values; without any, it is the same as the others."""
    name = " / ".join(values.values())[: LIMITS[Variant]["name"]]
    return ParsedVariant(row.line, values, {"name": name, "sort_order": order})


def make_variable(
    parsed: ParsedProduct, rows: Sequence[tuple[RowReader, ParsedVariant]], column: str, *, is_complete: bool = True
) -> None:
    """Give the product its variants. Records a problem for two with the same options; `column` is that of options.
    Where the file need not have all of them, an existing product keeps the others."""
    lines: dict[tuple, int] = {}
    for row, variant in rows:
        if not variant.option_values:
            row.refuse(column, _("is empty; each of several variants needs its options"))
        elif lines.setdefault(variant.key, row.line) != row.line:
            row.refuse(
                column, _("has the same options as the variant on line %(value)s") % {"value": lines[variant.key]}
            )
    variants = [variant for _unused, variant in rows]
    names = dict.fromkeys(name for variant in variants for name in variant.option_values)
    parsed.variants, parsed.variants_complete = variants, is_complete
    parsed.fields |= {"type": Product.Type.VARIABLE, "track_inventory": False, "stock_qty": 0}
    parsed.if_new["attributes"] = [
        {"name": name, "values": [*dict.fromkeys(filter(None, values))], "variation": True}
        for name in names
        if (values := [variant.option_values.get(name, "") for variant in variants])
    ]
    prices = [each.fields for each in variants if "price" in each.fields and each.fields.get("is_active", True)]
    if prices:
        # Lists sort by the cheapest variant's price.
        cheapest = min(prices, key=lambda each: each["price"])
        stated = parsed.fields if is_complete else parsed.if_new
        stated |= {name: cheapest[name] for name in ("price", "compare_price") if name in cheapest}


def status_of_visible(value: str) -> Any:
    """The status by a column that tells whether a product is visible; a blank one keeps it."""
    is_visible = parsers.boolean(blank=KEEP)(value)
    return KEEP if is_visible is KEEP else Product.Status.ACTIVE if is_visible else Product.Status.DRAFT


def chosen(words: dict[str, Any]) -> parsing.Parse:
    """A parser for one of these words, in any case."""

    def parse(value: str) -> Any:
        try:
            return words[value.lower()]
        except KeyError:
            expected = ", ".join(word for word in words if word)
            raise InvalidValue(
                _("expected one of %(expected)s, found %(value)s")
                % {"expected": expected, "value": parsing.quoted(value)}
            ) from None

    return parse

"""BigCommerce's CSV of products as its older export (v2) writes it: rows whose `Item Type` is Product, followed by
those of its SKUs, which are variants, and of rules that change a variant's price.

The columns are those of BigCommerce's template for bulk edits, and the syntax of options and rules that of its
documentation: `[RT]Size=M,[CS]Colour=Red:#ff0000`; `[ADD]2`, `[REMOVE]2` or `[FIXED]9.50`. Weights are in the store's
unit, which the file does not name, so they are not imported.
"""

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.models import Product
from storefront.kit.money import ZERO
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedMedia, ParsedProduct, ParsedVariant
from storefront.product_files.programs.bigcommerce_v3 import NOTHING, read_stock
from storefront.product_files.programs.format import Anything, ItemRows, ProgramFormat
from storefront.product_files.programs.values import (
    category_paths,
    chosen,
    listed,
    make_simple,
    make_variable,
    new_product,
    new_variant,
    option_text,
    pictures,
    product_mappings,
    sales_mappings,
    set_own_sku,
    set_prices,
)
from storefront.product_files.rows import KEEP, ColumnIndex, RowReader, mappings_in_file
from storefront.shops.models import Shop

HEADERS = {
    "item": ("Item Type",),
    "id": ("Product ID",),
    "name": ("Product Name",),
    "type": ("Product Type",),
    "sku": ("Product Code/SKU",),
    "brand": ("Brand Name",),
    "description": ("Product Description",),
    "price": ("Price",),
    "cost": ("Cost Price",),
    "retail price": ("Retail Price",),
    "sale price": ("Sale Price",),
    "purchasable": ("Allow Purchases?",),
    "visible": ("Product Visible?",),
    "tracking": ("Track Inventory",),
    "stock": ("Current Stock Level",),
    "low stock": ("Low Stock Level",),
    "category": ("Category",),
    "image # file": ("Product Image File - #",),
    "image # url": ("Product Image URL - #",),
    "meta title": ("Page Title",),
    "meta description": ("Meta Description",),
    "barcode": ("Product UPC/EAN",),
    "url": ("Product URL",),
    "sort order": ("Sort Order",),
    "stop": ("Stop Processing Rules",),
}
_UNCARRIED = [
    (r"product image (id|is thumbnail|description|sort) - \d+|date (added|modified)|option set( align)?", Anything()),
    ("product (weight|width|height|depth)|fixed shipping cost", NOTHING),
    (
        r"free shipping|show product condition\?|redirect old url\?|event date (required|is limited)\?|gps enabled",
        {"n"},
    ),
    ("product condition", {"new"}),
    ("product tax class", {"default tax class"}),
    (r"bin picking number|product (warranty|availability|custom fields)|search keywords|meta keywords", set[str]()),
    (r"(event date|gps|myob|product file|manufacturer part number|global trade)\b.*", set[str]()),
]
_SHIPPED = chosen({"p": True, "d": False, "": KEEP})
_TRACKING = chosen({"none": "none", "n": "none", "": "", "by product": "product", "y": "product", "by option": "sku"})
_OPTION = re.compile(r"(?:^|,)\s*\[\w{1,4}\]", re.ASCII)
_CHANGE = re.compile(r"\[(add|remove|fixed)\]\s*(.*)\Z", re.IGNORECASE | re.DOTALL)


class _Rows(ItemRows):
    KINDS = ("Product", "SKU", "Rule")

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        super().__init__(columns, shop, now)
        others = [
            ("type", "requires_shipping", _SHIPPED),
            ("low stock", "low_stock_threshold", parsers.integer(blank=0)),
            ("sort order", "sort_order", parsers.integer()),
        ]
        self.product_mappings = mappings_in_file(columns, [*product_mappings(), *others])
        self.sales_mappings = mappings_in_file(columns, sales_mappings(shop.currency))
        self.images = [name for name in columns.index if name.startswith("image ")]

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first = rows[0]
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        path = first["url"].strip("/").rpartition("/")[2]
        parsed = new_product(first, fields, parsers.slug(path) if path else "")
        self._settings(parsed, first)
        variants = [row for row in rows if row["item"].lower() == "sku"]
        if variants:
            made = [(row, self._variant(parsed, first, row, order)) for order, row in enumerate(variants)]
            self._apply_rules(
                [variant for _unused, variant in made], [row for row in rows if row["item"].lower() == "rule"]
            )
            make_variable(parsed, made, "name")
            set_own_sku(parsed, first)
        else:
            for row in rows[1:]:
                row.refuse("item", _("is a rule of a product without SKUs, which is not supported"))
            only = new_variant(first, {}, 0)
            self._fill(parsed, first, first, only)
            make_simple(parsed, only)
        return parsed

    def _settings(self, parsed: ParsedProduct, first: RowReader) -> None:
        names = [name for name in ("visible", "purchasable") if name in self.columns]
        stated = [first.read(name, parsers.boolean(blank=KEEP), KEEP) for name in names]
        if False in stated:
            parsed.fields["status"] = Product.Status.DRAFT
        elif names and KEEP not in stated:
            parsed.fields["status"] = Product.Status.ACTIVE
        if "brand" in self.columns:
            parsed.related_names["brand"] = first.read("brand", parsers.text(200)) or None
        if "category" in self.columns:
            paths = (path.split("/") for path in listed(first["category"], ";"))
            parsed.categories = category_paths(first, "category", paths)
        if self.images:
            parsed.media = self._pictures(parsed, first)

    def _pictures(self, parsed: ParsedProduct, row: RowReader) -> list[ParsedMedia]:
        return list({each.url: each for each in pictures(parsed, row, self.images)}.values())

    def _variant(self, parsed: ParsedProduct, first: RowReader, row: RowReader, order: int) -> ParsedVariant:
        variant = new_variant(row, _options(row), order)
        self._fill(parsed, first, row, variant)
        if row["price"] and row["price"] != first["price"] and row["price"] not in NOTHING:
            row.refuse("price", _("is not read in the row of a SKU; state it in a row of a Rule below"))
        return variant

    def _fill(self, parsed: ParsedProduct, first: RowReader, row: RowReader, variant: ParsedVariant) -> None:
        fields = variant.fields
        row.read_into(fields, self.sales_mappings)
        money = parsers.money(self.shop.currency, blank=None)
        price = first.read("price", parsers.required(money))
        set_prices(parsed, first, fields, price, first.read("sale price", money), first.read("retail price", money))
        if "stock" in self.columns and "tracking" in self.columns:
            read_stock(parsed, first, row, variant, first.read("tracking", _TRACKING, ""))

    def _apply_rules(self, variants: list[ParsedVariant], rules: list[RowReader]) -> None:
        """Change the variants by the rules for their options or SKU, in order, until one that ends the others."""
        ended: set[int] = set()
        for rule in rules:
            options = {} if rule["sku"] and not rule["name"] else _options(rule)
            change = self._change(rule)
            for number, variant in enumerate(variants):
                own = variant.option_values
                is_meant = options.items() <= own.items() if options else variant.fields.get("sku") == rule["sku"]
                if not is_meant or number in ended:
                    continue
                _change_price(rule, variant.fields, *change)
                if not rule.read("purchasable", parsers.boolean(blank=True)):
                    variant.fields["is_active"] = False
                if rule.read("stop", parsers.boolean(blank=False)):
                    ended.add(number)

    def _change(self, rule: RowReader) -> tuple[str, Decimal]:
        if not rule["price"]:
            return "add", ZERO
        if found := _CHANGE.match(rule["price"]):
            return found[1].lower(), rule.read_part("price", parsers.money(self.shop.currency), found[2], ZERO)
        rule.refuse(
            "price",
            _("expected [ADD], [REMOVE] or [FIXED] and an amount, found %(found)s")
            % {"found": parsing.quoted(rule["price"])},
        )
        return "add", ZERO


def _change_price(rule: RowReader, fields: dict[str, Any], kind: str, amount: Decimal) -> None:
    if kind == "fixed":
        fields |= {"price": amount, "compare_price": ZERO}
        return
    for name in ("price", "compare_price"):
        if fields.get(name):
            fields[name] += amount if kind == "add" else -amount
            if fields[name] < ZERO:
                rule.refuse("price", _("makes a price negative"))


def _options(row: RowReader) -> dict[str, str]:
    """The options of a SKU or of a rule."""
    text, found = row["name"], {}
    ends = list(_OPTION.finditer(text))
    for sign, after in zip(ends, [*ends[1:], None], strict=True):
        name, _unused, value = text[sign.end() : after.start() if after else len(text)].partition("=")
        if "[CS]" in sign[0]:
            value = value.partition(":#")[0]
        name, value = option_text(row, "name", name), option_text(row, "name", value)
        if name and value:
            found[name] = value
    if not found:
        row.refuse("name", _("expected options such as [RT]Size=M, found %(text)s") % {"text": parsing.quoted(text)})
    return found


FORMAT = ProgramFormat(
    program="BigCommerce (v2)",
    EXPECTED="Item Type, Product Name, Product Code/SKU, Price",
    headers=HEADERS,
    needed=frozenset({"item", "name", "sku", "price"}),
    rows=_Rows,
    NUMBERS=("cost", "retail price", "sale price", "stock", "price"),
    uncarried=_UNCARRIED,
)

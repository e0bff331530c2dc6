"""Wix's CSV of products: rows with the same `handleId`, a `Product` and then each `Variant` of it.

The columns are those of Wix Stores' exports and of its import template. A variant's price is the product's with its
surcharge. A discount is taken from both, in per cent or as an amount. Choices without rows of variants are options that
do not change the price. Weights are in the unit of the site, which the file does not name, so they are not imported.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.kit.money import ZERO, quantize
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedOption, ParsedProduct, ParsedVariant
from storefront.product_files.programs.format import Anything, ProductRows, ProgramFormat
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
    set_stock,
    status_of_visible,
    warn_if_free,
)
from storefront.product_files.rows import ColumnIndex, RowReader, mappings_in_file
from storefront.shops.models import Shop

HEADERS = {
    "handle": ("handleId",),
    "kind": ("fieldType",),
    "name": ("name",),
    "description": ("description",),
    "images": ("productImageUrl",),
    "collection": ("collection",),
    "sku": ("sku",),
    "price": ("price",),
    "surcharge": ("surcharge",),
    "visible": ("visible",),
    "discount mode": ("discountMode",),
    "discount": ("discountValue",),
    "inventory": ("inventory",),
    "cost": ("cost",),
    "brand": ("brand",),
    "option # name": ("productOptionName#",),
    "option # type": ("productOptionType#",),
    "option # choices": ("productOptionDescription#",),
}
_UNCARRIED = [
    ("weight", {"0", "0.0", "0.00"}),
    (r"ribbon|additionalinfo(title|description)\d", set[str]()),
    # Whether a text that a buyer could give is needed, and how long it could be.
    (r"customtext(charlimit|mandatory)\d", Anything()),
    (r"customtextfield\d", set[str]()),
]
# Exports name Wix's own pictures without their address.
_MEDIA = "https://static.wixstatic.com/media/"
_MODE = chosen({"percent": "percent", "amount": "amount", "": ""})
_HUNDRED = Decimal(100)


class _Rows(ProductRows):
    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        super().__init__(columns, shop, now)
        self.product_mappings = mappings_in_file(
            columns, [*product_mappings(), ("visible", "status", status_of_visible)]
        )
        self.sales_mappings = mappings_in_file(columns, sales_mappings(shop.currency))
        self.options = [n for n in range(1, 7) if f"option {n} name" in columns and f"option {n} choices" in columns]

    def group(self, row: RowReader, above: str) -> str:
        if not row["handle"]:
            row.refuse("handle", _("is empty"))
        elif row["kind"].lower() not in ("product", "variant"):
            row.refuse(
                "kind", _("expected Product or Variant, found %(found)s") % {"found": parsing.quoted(row["kind"])}
            )
        else:
            return row["handle"]
        return ""

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first, others = rows[0], rows[1:]
        if first["kind"].lower() != "product":
            first.refuse("kind", _("there is no row of the product before its variants"))
        for row in others:
            if row["kind"].lower() == "product":
                row.refuse("handle", _("is that of the product on line %(line)s, too") % {"line": first.line})
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        parsed = new_product(first, fields)
        if "brand" in self.columns:
            parsed.related_names["brand"] = first.read("brand", parsers.text(200)) or None
        if "collection" in self.columns:
            parsed.categories = category_paths(
                first, "collection", ([name] for name in listed(first["collection"], ";"))
            )
        if "images" in self.columns:
            parsed.media = pictures(parsed, first, ["images"], _MEDIA)
        price = first.read("price", parsers.required(parsers.money(self.shop.currency)))
        if others:
            made = [(row, self._variant(parsed, first, row, order, price)) for order, row in enumerate(others)]
            make_variable(parsed, made, "option 1 choices")
            set_own_sku(parsed, first)
        else:
            only = new_variant(first, {}, 0)
            self._fill(parsed, first, first, price, only)
            make_simple(parsed, only)
            parsed.options = self._choices(first)
        return parsed

    def _choices(self, first: RowReader) -> list[ParsedOption] | None:
        found = []
        for n in self.options:
            if name := option_text(first, f"option {n} name", first[f"option {n} name"]):
                labels = [self._label(first, n, text) for text in listed(first[f"option {n} choices"], ";")]
                found.append(ParsedOption(name, {}, [(label, {}) for label in dict.fromkeys(labels) if label]))
        return found or None

    def _label(self, row: RowReader, n: int, text: str) -> str:
        """The name of a choice; that of a colour is preceded by its code, as in `#ff0000:Red`."""
        name = text.partition(":")[2] if text.startswith(("#", "rgb")) else ""
        return option_text(row, f"option {n} choices", name or text)

    def _variant(
        self, parsed: ParsedProduct, first: RowReader, row: RowReader, order: int, price: Decimal | None
    ) -> ParsedVariant:
        values: dict[str, str] = {}
        for n in self.options:
            name = option_text(first, f"option {n} name", first[f"option {n} name"])
            if name and (label := self._label(row, n, row[f"option {n} choices"])):
                values[name] = label
        variant = new_variant(row, values, order)
        self._fill(parsed, first, row, price, variant)
        if row["visible"]:
            variant.fields["is_active"] = row.read("visible", parsers.boolean(blank=True))
        return variant

    def _fill(
        self, parsed: ParsedProduct, first: RowReader, row: RowReader, price: Decimal | None, variant: ParsedVariant
    ) -> None:
        fields = variant.fields
        row.read_into(fields, self.sales_mappings)
        money = parsers.money(self.shop.currency)
        if price is not None:
            regular = price + (row.read("surcharge", money, ZERO) if row is not first else ZERO)
            fields["price"] = self._discounted(first, regular)
            warn_if_free(parsed, row, regular)
            if "discount" in self.columns:
                fields["compare_price"] = regular if fields["price"] < regular else ZERO
        if "inventory" in self.columns:
            text = row["inventory"]
            words = {"instock": None, "outofstock": "0"}
            set_stock(parsed, row, variant, "inventory", words.get(text.lower(), text))

    def _discounted(self, first: RowReader, regular: Decimal) -> Decimal:
        mode, amount = first.read("discount mode", _MODE, ""), first.read("discount", _amount)
        if not mode or not amount:
            return regular
        lower = regular - amount if mode == "amount" else regular * (_HUNDRED - amount) / _HUNDRED
        if not ZERO <= lower <= regular:
            first.refuse(
                "discount",
                _("expected a discount that is not more than the price, found %(amount)s") % {"amount": amount},
            )
            return regular
        return quantize(lower, self.shop.currency)


def _amount(value: str) -> Decimal:
    return parsing.number(value) if value else ZERO


FORMAT = ProgramFormat(
    program="Wix",
    EXPECTED="handleId, fieldType, name, price, productOptionName1",
    headers=HEADERS,
    needed=frozenset({"handle", "kind", "name", "price"}),
    rows=_Rows,
    NUMBERS=("price", "surcharge", "discount", "cost", "inventory"),
    uncarried=_UNCARRIED,
)

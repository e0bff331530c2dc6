"""Product feeds as Google Merchant Center takes them, CSV or tab-separated: one offer a row, and the same
`item_group_id` in the rows of a product's variants.

The columns are those of Google's product data specification. Prices state their currency, which has to be the shop's.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.models import Product
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.money import ZERO
from storefront.product_files import parsers
from storefront.product_files.csv_reading import Row, Table
from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant
from storefront.product_files.parsers import LIMITS
from storefront.product_files.programs.format import ALONE, Anything, ProductRows, ProgramFormat
from storefront.product_files.programs.values import (
    category_paths,
    chosen,
    make_simple,
    make_variable,
    new_product,
    new_variant,
    option_text,
    pictures,
    product_mappings,
    sales_mappings,
    set_prices,
)
from storefront.product_files.rows import ColumnIndex, RowReader, mappings_in_file
from storefront.product_files.woocommerce.headers import KILOGRAMS
from storefront.shops.models import Shop

OPTIONS = ("color", "size", "material", "pattern", "age group", "gender")
_ATTRIBUTES = {
    "id": "id",
    # Not Google's, but in many feeds: there the id is one of the shop that wrote it.
    "sku": "sku",
    "name": "title",
    "description": "description",
    "images": "image link",
    "more images": "additional image link",
    "availability": "availability",
    "price": "price",
    "sale price": "sale price",
    "sale dates": "sale price effective date",
    "cost": "cost of goods sold",
    "brand": "brand",
    "barcode": "gtin",
    "group": "item group id",
    "category": "product type",
    "weight": "shipping weight",
} | {name: name for name in OPTIONS}
_UNCARRIED = [
    # The page of the offer in the shop that wrote the feed.
    (r"(g:)?(mobile[ _])?link|(g:)?identifier[ _]exists", Anything()),
    (r"(g:)?condition", {"new"}),
    (r"(g:)?(adult|is[ _]bundle)", {"no", "false"}),
    (r"(g:)?(google[ _]product[ _]category|mpn|tax|shipping|availability[ _]date|custom[ _]label[ _]\d)", set[str]()),
]
_AVAILABLE = chosen(
    dict.fromkeys(("in stock", "in_stock", "preorder", "backorder", ""), True)
    | dict.fromkeys(("out of stock", "out_of_stock"), False)
)
_MEASURE = re.compile(r"([\d.,]+) *([a-z]+)\Z", re.ASCII)


class _Rows(ProductRows):
    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        super().__init__(columns, shop, now)
        self.product_mappings = mappings_in_file(columns, product_mappings())
        mappings = [each for each in sales_mappings(shop.currency) if each[0] != "cost"]
        weight = ("weight", "weight", _weight)
        self.sales_mappings = mappings_in_file(columns, [*mappings, ("cost", "cost_price", self._money), weight])

    def group(self, row: RowReader, above: str) -> str:
        return f"group:{row['group']}" if row["group"] else f"{ALONE}{row.line}"

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first = rows[0]
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        parsed = new_product(first, fields)
        if "brand" in self.columns:
            parsed.related_names["brand"] = first.read("brand", parsers.text(200)) or None
        if "category" in self.columns:
            parsed.categories = category_paths(first, "category", [first["category"].split(">")])
        images = [name for name in ("images", "more images") if name in self.columns]
        if images:
            found = [each for row in rows for each in pictures(parsed, row, images)]
            parsed.media = list({each.url: each for each in found}.values())
        if len(rows) == 1:
            make_simple(parsed, self._variant(parsed, first, 0, []))
        else:
            differing = [name for name in OPTIONS if len({row[name] for row in rows}) > 1]
            made = [(row, self._variant(parsed, row, order, differing)) for order, row in enumerate(rows)]
            # A feed leaves out what is not advertised.
            make_variable(parsed, made, "color", is_complete=False)
        return parsed

    def _variant(self, parsed: ParsedProduct, row: RowReader, order: int, options: list[str]) -> ParsedVariant:
        values = {name.capitalize(): option_text(row, name, row[name]) for name in OPTIONS if row[name]}
        differing = {name.capitalize() for name in options}
        variant = new_variant(row, {name: value for name, value in values.items() if name in differing}, order)
        variant.shared_values = {name: value for name, value in values.items() if name not in differing}
        self._fill(parsed, row, variant.fields)
        variant.states_image = "images" in self.columns
        variant.image = row["images"] or None
        return variant

    def _fill(self, parsed: ParsedProduct, row: RowReader, fields: dict[str, Any]) -> None:
        row.read_into(fields, self.sales_mappings)
        if "sku" not in self.columns:
            fields["sku"] = row.read("id", parsers.text(LIMITS[Product]["sku"]))
        price, sale = row.read("price", parsers.required(self._money)), row.read("sale price", self._money) or None
        begin, end = row.read("sale dates", _period, (None, None))
        if sale and end and end <= self.now:
            parsed.warn(self.columns.header["sale price"], _("the sale has ended; ignored"), row.line)
            sale = begin = end = None
        if "sale price" in self.columns:
            fields |= {"sale_price": None, "sale_from": None, "sale_until": None}
        if sale and price and sale < price and (begin or end):
            fields |= {"sale_price": sale, "sale_from": begin, "sale_until": end}
            sale = None
        set_prices(parsed, row, fields, price, sale)
        if "availability" in self.columns:
            # A feed has no quantities, so stock is only tracked where there is none.
            is_available = row.read("availability", _AVAILABLE, True)
            fields |= {"track_inventory": not is_available, "stock_qty": 0}

    def _money(self, value: str) -> Decimal | None:
        """An amount with the shop's currency, as in `12.00 EUR`."""
        if not value:
            return None
        amount, _unused, currency = value.rpartition(" ")
        if not (amount and currency.isalpha() and len(currency) == 3):
            raise InvalidValue(
                _("expected an amount with its currency, such as 12.00 %(currency)s, found %(value)s")
                % {"currency": self.shop.currency, "value": repr(value[:40])}
            )
        if currency.upper() != self.shop.currency:
            raise InvalidValue(
                _("is in %(given)s, but the shop's currency is %(currency)s")
                % {"given": currency.upper(), "currency": self.shop.currency}
            )
        return parsers.money(self.shop.currency)(amount.strip())


def _weight(value: str) -> Decimal:
    if not value:
        return ZERO
    found = _MEASURE.match(value.lower())
    if not found or found[2] not in KILOGRAMS:
        raise InvalidValue(
            _("expected a weight with its unit, such as 0.5 kg, found %(value)s") % {"value": parsing.quoted(value)}
        )
    return parsing.measure(KILOGRAMS[found[2]])(found[1])


def _period(value: str) -> tuple[datetime | None, datetime | None]:
    begin, _unused, end = value.partition("/")
    return parsing.moment(begin.strip()), parsing.moment(end.strip())


def _spellings(attribute: str) -> Iterator[str]:
    for name in (attribute, attribute.replace(" ", "_")):
        yield from (name, f"g:{name}")


class _Google(ProgramFormat):
    def skus(self, table: Table, columns: ColumnIndex, *, of_variants: bool) -> Iterator[str]:
        """The SKU or id of every row."""
        column = "sku" if "sku" in columns else "id"
        for found in table.rows():
            if isinstance(found, Row) and (sku := RowReader(columns, found.line, found.values)[column]):
                yield sku


FORMAT = _Google(
    program="Google Merchant Center",
    EXPECTED="id, title, price, availability, image_link",
    headers={column: tuple(dict.fromkeys(_spellings(name))) for column, name in _ATTRIBUTES.items()},
    needed=frozenset({"id", "name", "price", "availability"}),
    rows=_Rows,
    uncarried=_UNCARRIED,
)

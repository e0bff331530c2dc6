"""Square's CSV of its item library: a row for each variation, and the same item name in all rows of an item.

The columns are those of Square's own exports. A row has the stock of each location in a column of its own, `Current
Quantity` and the location's name; the shop's stock is their sum. An item whose price is typed at the till (`variable`)
is refused.
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
from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant
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
    set_prices,
)
from storefront.product_files.rows import KEEP, ColumnIndex, RowReader, mappings_in_file
from storefront.product_files.stock_levels import read_level
from storefront.product_files.woocommerce.headers import KILOGRAMS
from storefront.shops.models import Shop

HEADERS = {
    "token": ("Token",),
    "handle": ("Reference Handle",),
    "name": ("Item Name",),
    "variation": ("Variation Name",),
    "sku": ("SKU",),
    "barcode": ("GTIN",),
    "description": ("Description",),
    "category": ("Category", "Categories"),
    "price": ("Price",),
    "sale price": ("Online Sale Price",),
    "cost": ("Default Unit Cost",),
    "archived": ("Archived",),
    "visible": ("Square Online Item Visibility",),
    "meta title": ("SEO Title",),
    "meta description": ("SEO Description",),
    "url": ("Permalink",),
    "images": ("Item Image URLs",),
    "shipping": ("Shipping Enabled",),
    **{f"weight {unit}": (f"Weight ({unit})",) for unit in ("lb", "oz", "kg", "g")},
    "option # name": ("Option Name #",),
    "option # value": ("Option Value #",),
}
_UNCARRIED = [
    (r"(new quantity|stock alert (enabled|count)|tax -|modifier set -|price) .*|new quantity", Anything()),
    (r"item type", {"physical good", "physical", "regular"}),
    (r"sellable|self-serve ordering enabled|delivery enabled|pickup enabled|taxable|stockable", Anything()),
    (
        r"skip detail screen in pos|contains alcohol|auto add item to check|unit and precision|track quantity.*",
        Anything(),
    ),
    (
        r"reporting category|customer-facing name|social media link .*|default vendor (name|code)",
        set[str](),
    ),
]
_QUANTITY = "current quantity"
# A category can be followed by its id.
_CATEGORY_ID = re.compile(r" \([A-Z0-9]{24}\)(?:, |\Z)")
_STATUS = chosen(
    {"visible": Product.Status.ACTIVE, "": KEEP} | dict.fromkeys(("hidden", "unavailable"), Product.Status.DRAFT)
)


class _Square(ProgramFormat):
    def column_of(self, header: str) -> str | None:
        plain = " ".join(header.casefold().split())
        return plain if plain.startswith(_QUANTITY) else super().column_of(header)


class _Rows(ProductRows):
    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        super().__init__(columns, shop, now)
        self.product_mappings = mappings_in_file(
            columns,
            [
                *product_mappings(),
                ("visible", "status", _STATUS),
                ("shipping", "requires_shipping", parsers.boolean(blank=KEEP)),
            ],
        )
        weights = [
            (f"weight {unit}", "weight", parsing.measure(KILOGRAMS[unit], blank=Decimal("0.000")))
            for unit in ("lb", "oz", "kg", "g")
        ]
        self.sales_mappings = mappings_in_file(columns, [*sales_mappings(shop.currency), *weights])
        self.options = [n for n in range(1, 7) if f"option {n} name" in columns and f"option {n} value" in columns]
        self.quantities = [name for name in columns.index if name.startswith(_QUANTITY)]

    def group(self, row: RowReader, above: str) -> str:
        if not row["name"]:
            row.refuse("name", _("is empty"))
            return ""
        return f"{row['handle']}\n{row['name']}"

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first = rows[0]
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        path = first["url"].strip("/").rpartition("/")[2]
        parsed = new_product(first, fields, parsers.slug(path) if path else "")
        if first.read("archived", parsers.boolean(blank=False)):
            fields["status"] = Product.Status.ARCHIVED
        if "category" in self.columns:
            parsed.categories = category_paths(first, "category", (name.split(" > ") for name in _categories(first)))
        if "images" in self.columns:
            parsed.media = pictures(parsed, first, ["images"])
        if len(rows) == 1:
            make_simple(parsed, self._variant(parsed, first, 0))
        else:
            make_variable(parsed, [(row, self._variant(parsed, row, n)) for n, row in enumerate(rows)], "variation")
        return parsed

    def _variant(self, parsed: ParsedProduct, row: RowReader, order: int) -> ParsedVariant:
        values: dict[str, str] = {}
        for n in self.options:
            name = option_text(row, f"option {n} name", row[f"option {n} name"])
            if name and (value := option_text(row, f"option {n} value", row[f"option {n} value"])):
                values[name] = value
        if not values and (value := option_text(row, "variation", row["variation"])):
            values["Variation"] = value
        variant = new_variant(row, values, order)
        self._fill(parsed, row, variant)
        return variant

    def _fill(self, parsed: ParsedProduct, row: RowReader, variant: ParsedVariant) -> None:
        fields = variant.fields
        row.read_into(fields, self.sales_mappings)
        money = parsers.money(self.shop.currency, blank=None)
        price = row.read("price", parsers.required(money))
        set_prices(parsed, row, fields, price, row.read("sale price", money))
        if self.quantities:
            stated = [row.read(column, parsers.stock, ZERO) for column in self.quantities if row[column]]
            counted = fields if stated else variant.if_new
            counted |= {"track_inventory": bool(stated), "stock_qty": sum(stated, ZERO)}
            read_level(parsed, counted, self.columns.header[self.quantities[0]], row.line)


def _categories(row: RowReader) -> list[str]:
    """The names of the categories: `Cups (R2BT4JIZR3EWLSBNJ6WDSQPP), New (...)`, or without ids."""
    text = row["category"]
    if _CATEGORY_ID.search(text):
        return [name for name in _CATEGORY_ID.split(text) if name]
    return listed(text) if row.columns.header["category"].lower() == "categories" else [text]


FORMAT = _Square(
    program="Square",
    EXPECTED="Token, Item Name, Variation Name, Price",
    headers=HEADERS,
    needed=frozenset({"name", "variation", "price"}),
    rows=_Rows,
    NUMBERS=("price", "sale price", "cost"),
    uncarried=_UNCARRIED,
)

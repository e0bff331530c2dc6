"""Squarespace's CSV of products: a product's first row has its title, further variants follow in rows without one.

The columns are those of Squarespace's own exports and of its import template. Weights and sizes are in the units of the
site, which the file does not name, so they are not imported.
"""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

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
    set_stock,
    status_of_visible,
    tags,
)
from storefront.product_files.rows import KEEP, ColumnIndex, RowReader, mappings_in_file
from storefront.shops.models import Shop

HEADERS = {
    "id": ("Product ID [Non Editable]",),
    "type": ("Product Type [Non Editable]",),
    "url": ("Product URL",),
    "name": ("Title",),
    "description": ("Description",),
    "sku": ("SKU",),
    "barcode": ("GTIN",),
    "option # name": ("Option Name #",),
    "option # value": ("Option Value #",),
    "price": ("Price",),
    "sale price": ("Sale Price",),
    "on sale": ("On Sale",),
    "stock": ("Stock",),
    "categories": ("Categories",),
    "tags": ("Tags",),
    "visible": ("Visible",),
    "images": ("Hosted Image URLs",),
}
_NOTHING = {"0", "0.0", "0.00"}
_UNCARRIED = [
    (r"variant id \[non editable\]|product page", Anything()),
    ("weight|length|width|height", _NOTHING),
    ("mpn", set[str]()),
]
_SHIPPED = chosen({"physical": True, "digital": False, "service": False, "gift_card": False, "": KEEP})


class _Rows(ProductRows):
    is_positional = True

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        super().__init__(columns, shop, now)
        self.product_mappings = mappings_in_file(
            columns,
            [
                *product_mappings(),
                ("tags", "tags", tags),
                ("type", "requires_shipping", _SHIPPED),
                ("type", "is_gift_card", _is_gift_card),
                ("visible", "status", status_of_visible),
            ],
        )
        self.sales_mappings = mappings_in_file(columns, sales_mappings(shop.currency))
        self.options = [n for n in range(1, 7) if f"option {n} name" in columns and f"option {n} value" in columns]

    def group(self, row: RowReader, above: str) -> str:
        if row["name"] or row["id"]:
            return f"product {row.line}"
        if not above:
            row.refuse("name", _("is empty, and there is no product in the rows above"))
        return above

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first = rows[0]
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        path = first["url"].strip("/").rpartition("/")[2]
        parsed = new_product(first, fields, parsers.slug(path) if path else "")
        if "categories" in self.columns:
            # A subcategory is stated with its parents, as in `/clothing/shirts`.
            names = listed(first["categories"])
            parsed.categories = category_paths(
                first, "categories", (name.split("/") if name.startswith("/") else [name] for name in names)
            )
        if "images" in self.columns:
            parsed.media = [each for row in rows for each in pictures(parsed, row, ["images"])]
        variants = [(row, self._variant(parsed, first, row, order)) for order, row in enumerate(rows)]
        if len(variants) == 1 and not variants[0][1].option_values:
            make_simple(parsed, variants[0][1])
        else:
            make_variable(parsed, variants, "option 1 value")
        return parsed

    def _variant(self, parsed: ParsedProduct, first: RowReader, row: RowReader, order: int) -> ParsedVariant:
        values: dict[str, str] = {}
        for n in self.options:
            name = option_text(row, f"option {n} name", row[f"option {n} name"] or first[f"option {n} name"])
            if name and (value := option_text(row, f"option {n} value", row[f"option {n} value"])):
                values[name] = value
        variant = new_variant(row, values, order)
        row.read_into(variant.fields, self.sales_mappings)
        money = parsers.money(self.shop.currency, blank=None)
        price, sale = row.read("price", parsers.required(money)), row.read("sale price", money)
        is_on_sale = "on sale" not in self.columns or row.read("on sale", parsers.boolean(blank=False))
        set_prices(parsed, row, variant.fields, price, sale if is_on_sale else None)
        if "stock" in self.columns:
            text = row["stock"]
            set_stock(parsed, row, variant, "stock", None if text.lower() == "unlimited" else text)
        return variant


def _is_gift_card(value: str) -> Any:
    return value.lower() == "gift_card" if value else KEEP


FORMAT = ProgramFormat(
    program="Squarespace",
    EXPECTED="Product ID [Non Editable], Product Type [Non Editable], Title, Price",
    headers=HEADERS,
    needed=frozenset({"type", "name", "price"}),
    rows=_Rows,
    NUMBERS=("price", "sale price", "stock"),
    uncarried=_UNCARRIED,
)

"""BigCommerce's CSV of products as its current export writes it: rows whose `Item` is Product, followed by those of
its Variant, Image and Video.

The columns are those of BigCommerce's documentation of import and export fields. A variant without a price has the
product's. Categories and brands are ids in it, and weights in the store's unit, which the file does not name; they are
not imported.
"""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import parsing
from storefront.catalogue.models import Product
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant
from storefront.product_files.parsers import LIMITS
from storefront.product_files.programs.format import Anything, ItemRows, ProgramFormat
from storefront.product_files.programs.values import (
    chosen,
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
    set_stock,
    status_of_visible,
)
from storefront.product_files.rows import KEEP, ColumnIndex, RowReader, mappings_in_file
from storefront.shops.models import Shop

HEADERS = {
    "item": ("Item",),
    "id": ("ID",),
    "name": ("Name",),
    "type": ("Type",),
    "sku": ("SKU",),
    "options": ("Options",),
    "tracking": ("Inventory Tracking",),
    "stock": ("Current Stock",),
    "low stock": ("Low Stock",),
    "price": ("Price",),
    "cost": ("Cost Price",),
    "retail price": ("Retail Price",),
    "sale price": ("Sale Price",),
    "description": ("Description",),
    "meta title": ("Page Title",),
    "url": ("Product URL",),
    "meta description": ("Meta Description",),
    "barcode": ("UPC/EAN",),
    "visible": ("Is Visible",),
    "featured": ("Is Featured",),
    "sort order": ("Sort Order",),
    "variant image": ("Variant Image URL",),
    "image": ("Internal Image URL (Export)",),
    "new image": ("Image URL (Import)",),
    "image text": ("Image Description",),
    "image order": ("Image Sort Order",),
}
NOTHING = {"0", "0.0", "0.00", "0.0000"}
_UNCARRIED = [
    ("image is thumbnail|channels|show product condition", Anything()),
    ("weight|width|height|depth|fixed shipping cost", NOTHING),
    ("free shipping", {"false"}),
    ("brand id", {"0"}),
    ("product condition", {"new"}),
    ("tax class", {"0", "default tax class"}),
    (
        "categories|custom fields|search keywords|meta keywords|bin picking number|global trade number",
        set[str](),
    ),
    ("manufacturer part number|warranty|youtube id|video (title|description|sort order)", set[str]()),
]
_SHIPPED = chosen({"physical": True, "digital": False, "": KEEP})
_TRACKING = chosen({"none": "none", "product": "product", "variant": "variant", "": ""})


class _Rows(ItemRows):
    KINDS = ("Product", "Variant", "Image", "Video")

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        super().__init__(columns, shop, now)
        others = [
            ("type", "requires_shipping", _SHIPPED),
            ("visible", "status", status_of_visible),
            ("featured", "is_featured", parsers.boolean(blank=KEEP)),
            ("low stock", "low_stock_threshold", parsers.integer(blank=0)),
            ("sort order", "sort_order", parsers.integer()),
        ]
        self.product_mappings = mappings_in_file(columns, [*product_mappings(), *others])
        self.sales_mappings = mappings_in_file(columns, sales_mappings(shop.currency))

    def product(self, rows: list[RowReader]) -> ParsedProduct:
        first = rows[0]
        fields: dict[str, Any] = {}
        first.read_into(fields, self.product_mappings)
        path = first["url"].strip("/").rpartition("/")[2]
        parsed = new_product(first, fields, parsers.slug(path) if path else "")
        if "image" in self.columns or "new image" in self.columns:
            parsed.media = self._pictures(parsed, rows)
        variants = [row for row in rows if row["item"].lower() == "variant"]
        if variants:
            made = [(row, self._variant(parsed, first, row, order)) for order, row in enumerate(variants)]
            make_variable(parsed, made, "options")
            set_own_sku(parsed, first)
        else:
            only = new_variant(first, {}, 0)
            self._fill(parsed, first, first, only)
            make_simple(parsed, only)
        return parsed

    def _pictures(self, parsed: ParsedProduct, rows: list[RowReader]) -> list[Any]:
        images = [row for row in rows if row["item"].lower() == "image"]
        order = {row.line: row.read("image order", parsers.integer(blank=0), 0) for row in images}
        found = []
        for row in sorted(images, key=lambda row: order[row.line]):
            of_row = pictures(parsed, row, ["image" if row["image"] else "new image"])
            for picture in of_row:
                if "image text" in self.columns:
                    picture.fields["alt"] = row.read("image text", parsers.text(LIMITS[Product]["name"]), "")
            found += of_row
        return found

    def _variant(self, parsed: ParsedProduct, first: RowReader, row: RowReader, order: int) -> ParsedVariant:
        variant = new_variant(row, _options(row), order)
        self._fill(parsed, first, row, variant)
        variant.states_image = "variant image" in self.columns
        variant.image = row.read("variant image", parsers.url, "") or None
        return variant

    def _fill(self, parsed: ParsedProduct, first: RowReader, row: RowReader, variant: ParsedVariant) -> None:
        fields = variant.fields
        row.read_into(fields, self.sales_mappings)
        money = parsers.money(self.shop.currency, blank=None)
        product_price = first.read("price", parsers.required(money))
        own = row.read("price", money)
        sale = row.read("sale price", money) or (
            None if own and own != product_price else first.read("sale price", money)
        )
        if own and own != product_price and not sale and first.read("sale price", money):
            row.refuse(
                "sale price", _("is empty, but the product is on sale; state the price of this variant in the sale")
            )
        retail = row.read("retail price", money) or first.read("retail price", money)
        set_prices(parsed, row, fields, own if own is not None else product_price, sale, retail)
        if "stock" in self.columns and "tracking" in self.columns:
            read_stock(parsed, first, row, variant, first.read("tracking", _TRACKING, ""))


def read_stock(parsed: ParsedProduct, first: RowReader, row: RowReader, variant: ParsedVariant, tracking: str) -> None:
    """Read the stock, which is tracked for the `product`, for each variant, or for `none` of them; a blank `tracking`
    keeps it."""
    is_shared = tracking == "product" and row is not first
    text = (first if is_shared else row)["stock"] if tracking else ""
    set_stock(parsed, row, variant, "stock", None if tracking == "none" else text)
    if tracking and not text:
        variant.if_new["track_inventory"] = True
    if is_shared:
        reason = _("shared the product's stock; imported with the same stock of its own")
        parsed.warn(row.columns.header["stock"], reason, row.line)


def _options(row: RowReader) -> dict[str, str]:
    """The variant's options: `Type=Swatch|Name=Colour|Value=Red[#ff0000]Type=Rectangle|Name=Size|Value=M`."""
    found: dict[str, str] = {}
    for part in row["options"].split("Type=")[1:]:
        kind, _unused, named = part.partition("|Name=")
        name, _unused, value = named.partition("|Value=")
        value = value.strip(" |;")
        if kind.strip().lower() == "swatch" and value.endswith("]"):
            value = value.rpartition("[")[0]
        name, value = option_text(row, "options", name), option_text(row, "options", value)
        if name and value:
            found[name] = value
        else:
            row.refuse(
                "options",
                _("expected Type=...|Name=...|Value=..., found %(found)s") % {"found": parsing.quoted("Type=" + part)},
            )
    return found


FORMAT = ProgramFormat(
    program="BigCommerce",
    EXPECTED="Item, Name, SKU, Options, Price",
    headers=HEADERS,
    needed=frozenset({"item", "name", "sku", "options", "price"}),
    rows=_Rows,
    NUMBERS=("price", "cost", "retail price", "sale price", "stock"),
    uncarried=_UNCARRIED,
    # An export of chosen columns, with a row for each product.
    or_needed=frozenset({"name", "sku", "price", "tracking"}),
)

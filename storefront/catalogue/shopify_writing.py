"""Writes products as Shopify's own export does, in the classic headers that both generations of Shopify read."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.outgoing import Categories, address, axes, branches, plain, variants
from storefront.kit.money import to_wire
from storefront.shops.models import Shop

Row = dict[str, str]

HEADER = (
    *("Handle", "Title", "Body (HTML)", "Vendor", "Product Category", "Type", "Tags", "Published"),
    *(f"Option{number} {part}" for number in (1, 2, 3) for part in ("Name", "Value")),
    *("Variant SKU", "Variant Grams", "Variant Inventory Tracker", "Variant Inventory Qty"),
    *("Variant Inventory Policy", "Variant Fulfillment Service", "Variant Price", "Variant Compare At Price"),
    *("Variant Requires Shipping", "Variant Taxable", "Variant Barcode", "Image Src", "Image Position"),
    *("Image Alt Text", "Gift Card", "SEO Title", "SEO Description", "Variant Image", "Variant Weight Unit"),
    *("Variant Tax Code", "Cost per item", "Status"),
)
_GRAMS = Decimal(1000)
# Shopify knows no more.
MOST_OPTIONS = 3


class Sheet:
    """Shopify's columns and rows for one shop's products."""

    byte_order_mark = False
    header = HEADER

    def __init__(self, shop: Shop, categories: Categories) -> None:
        self.shop, self.categories = shop, categories

    def rows(self, product: Product) -> Iterator[Row]:
        """The product with its first variant and picture, then a row for each further one of either."""
        media = list(product.media.all())
        # What every variant leaves open is not chosen there.
        chosen = {name for each in variants(product) for name in each.option_values}
        names = [name for name in axes(product) if name in chosen][:MOST_OPTIONS]
        sold = [self._variant(product, each, names) for each in variants(product)] if names else []
        pictures = [
            {"Image Src": address(self.shop, each), "Image Position": str(order), "Image Alt Text": each.alt}
            for order, each in enumerate(media, 1)
        ]
        head = self._product(product, names)
        nothing: Row = {}
        for variant, picture in zip_longest(sold or [self._simple(product)], pictures, fillvalue=nothing):
            yield {"Handle": product.slug, **head, **variant, **picture}
            head = {}

    def _product(self, product: Product, names: list[str]) -> Row:
        row = {
            "Title": product.name,
            "Body (HTML)": product.description,
            "Vendor": product.brand.name if product.brand else "",
            "Tags": ", ".join(product.tags),
            "Published": "true",
            "Gift Card": _word(product.is_gift_card),
            "SEO Title": product.meta_title or "",
            "SEO Description": product.meta_description or "",
            "Status": product.status,
        }
        # One path has room, and a name of one step as the type.
        paths = [[node.name for node in each] for each in branches(product, self.categories)]
        if paths:
            row["Product Category"] = " > ".join(paths[0])
        row["Type"] = next((path[0] for path in paths[1:] if len(path) == 1), "")
        return row | {f"Option{number} Name": name for number, name in enumerate(names, 1)}

    def _simple(self, product: Product) -> Row:
        options = {"Option1 Name": "Title", "Option1 Value": "Default Title"}
        return {**options, **_sold(product, product), "Variant Grams": _grams(product.weight)}

    def _variant(self, product: Product, variant: Variant, names: list[str]) -> Row:
        row = _sold(product, variant) | {"Variant Grams": _grams(variant.weight or product.weight)}
        image = next((each for each in product.media.all() if each.pk == variant.image_id), None)
        row["Variant Image"] = address(self.shop, image) if image else ""
        for number, name in enumerate(names, 1):
            # Any value cannot be said there; Any is a value of its own.
            row[f"Option{number} Value"] = variant.option_values.get(name, "Any")
        return row


def _sold(product: Product, row: Any) -> Row:
    return {
        "Variant SKU": row.sku,
        "Variant Inventory Tracker": "shopify" if row.track_inventory else "",
        "Variant Inventory Qty": str(row.stock_qty),
        "Variant Inventory Policy": "continue" if row.allow_backorders else "deny",
        "Variant Fulfillment Service": "manual",
        "Variant Price": to_wire(row.price) or "",
        "Variant Compare At Price": (to_wire(row.compare_price) or "") if row.compare_price else "",
        "Variant Requires Shipping": _word(product.requires_shipping),
        "Variant Taxable": _word(product.is_taxable),
        "Variant Barcode": row.barcode or "",
        "Variant Weight Unit": "kg",
        "Variant Tax Code": product.tic_code or "",
        "Cost per item": plain(row.cost_price or None),
    }


def _grams(kilograms: Decimal) -> str:
    return plain(kilograms * _GRAMS)


def _word(value: bool) -> str:
    return "true" if value else "false"

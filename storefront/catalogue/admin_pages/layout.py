"""The layout and the labels of the page of a product.

A group of fields is in the middle of the page, or beside it (`side`). Groups that few products need (`more`) are
collapsed below the group before them.
"""

from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.text import Text
from storefront.staff.admin_parts import layout


def _group(classes: str, text: str) -> tuple[Text | None, dict[str, Any]]:
    """A group of fields in the form of `layout`, with the CSS classes and options that place it."""
    [(title, options)] = layout(text)
    return title, {"classes": classes.split(), **options}


FIELDSETS: list[tuple[Text | None, dict[str, Any]]] = [
    _group("main", "name description"),
    _group("main more", "Short description: short_description"),
    _group("main", "Price: price+compare_price"),
    _group(
        "main more",
        "Sale, cost and tax: sale_price sale_from+sale_until cost_price is_taxable tax_class+tic_code "
        "show_lowest_price exclude_from_group_discounts allow_custom_price min_custom_price",
    ),
    _group("main", "Stock: stock_qty+sku track_inventory waiting"),
    _group(
        "main more",
        "More about the stock: allow_backorders low_stock_threshold+barcode is_preorder available_from "
        "damaged_qty+damaged_price",
    ),
    _group("main variants", "Choices and variants: choices"),
    _group("main", "Delivery: requires_shipping weight"),
    _group(
        "main more",
        "Size, origin and downloads: length+width height+dimension_unit shipping_origin "
        "media_mail_eligible max_downloads+download_expiry_days",
    ),
    _group("main", "Details: details"),
    _group("main search", "Search engines: meta_title meta_description slug"),
    _group("main more", "More about search engines: canonical_url og_image_url noindex"),
    _group("main more", "Translations of its parts: parts"),
    _group("side", "Status: status"),
    _group("side more", "Publication dates: publish_at unpublish_at"),
    _group("side", "Categories: in_categories"),
    _group("side", "Organisation: brand tags"),
    _group(
        "side more",
        "More about the product: vendor type default_variant is_featured is_new is_pinned "
        "exclude_from_catalog is_gift_card sort_order",
    ),
]

# Labels of columns whose names merchants would not understand.
LABELS = {
    "stock_qty": _lazy("Stock"),
    "damaged_qty": _lazy("Damaged units"),
    "damaged_price": _lazy("Price of damaged units"),
    "track_inventory": _lazy("Count the stock"),
    "allow_backorders": _lazy("Keep selling when sold out"),
    "low_stock_threshold": _lazy("Stock is low at"),
    "barcode": _lazy("Barcode (EAN, UPC)"),
    "compare_price": _lazy("Previous price (crossed out)"),
    "cost_price": _lazy("What you pay for it"),
    "is_taxable": _lazy("Charge tax"),
    "tax_class": _lazy("Tax class"),
    "tic_code": _lazy("Tax code for a tax service"),
    "show_lowest_price": _lazy("Show “from” with the lowest price"),
    "exclude_from_group_discounts": _lazy("No discounts for customer groups"),
    "allow_custom_price": _lazy("Let shoppers choose the price"),
    "min_custom_price": _lazy("Lowest price that they can choose"),
    "requires_shipping": _lazy("Is sent or collected"),
    "media_mail_eligible": _lazy("Can be sent as media mail (US)"),
    "weight": format_lazy("{} (kg)", _lazy("Weight")),
    "dimension_unit": _lazy("Unit of length"),
    "shipping_origin": _lazy("Sent from"),
    "max_downloads": _lazy("Downloads of each file"),
    "download_expiry_days": _lazy("How many days files can be downloaded"),
    "noindex": _lazy("Hide from search engines"),
    "meta_title": _lazy("Title in search results"),
    "meta_description": _lazy("Description in search results"),
    "canonical_url": _lazy("Address of the original page"),
    "og_image_url": _lazy("Picture for social media"),
    "exclude_from_catalog": _lazy("Hide from product lists"),
    "publish_at": _lazy("Publish on"),
    "unpublish_at": _lazy("Unpublish on"),
    "sale_price": _lazy("Sale price"),
    "sale_from": _lazy("Sale begins"),
    "sale_until": _lazy("Sale ends"),
    "is_preorder": _lazy("Pre-order"),
    "available_from": _lazy("Pre-order is sent from"),
    "is_featured": _lazy("Show on the home page"),
    "is_new": _lazy("Mark as new"),
    "is_pinned": _lazy("Show first in lists"),
    "is_gift_card": _lazy("Gift card"),
    "is_active": _lazy("For sale"),
    "default_variant": _lazy("Variant selected at first"),
    "sort_order": _lazy("Position in lists"),
    "vendor": _lazy("Supplier"),
    "alt": _lazy("Description for those who cannot see it"),
}
HELP = {
    "tic_code": _lazy("Only if a tax service asks for it."),
    "canonical_url": _lazy("If search engines should list another page with the same product instead."),
    "og_image_url": _lazy("The address of a picture. If empty, the product's first picture is used."),
    "short_description": _lazy("One or two sentences for lists and search results."),
    "sort_order": _lazy("Small numbers come first."),
}

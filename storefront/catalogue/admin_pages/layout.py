"""The layout and the labels of the page of a product.

A group of fields is in the middle of the page, or beside it (`side`). Groups that few products need (`more`) are
collapsed below the group before them.
"""

from typing import Any

from storefront.staff.admin_parts import layout


def _group(classes: str, text: str) -> tuple[str | None, dict[str, Any]]:
    """A group of fields in the form of `layout`, with the CSS classes and options that place it."""
    [(title, options)] = layout(text)
    return title, {"classes": classes.split(), **options}


FIELDSETS: list[tuple[str | None, dict[str, Any]]] = [
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
    "stock_qty": "Stock",
    "damaged_qty": "Damaged units",
    "damaged_price": "Price of damaged units",
    "track_inventory": "Count the stock",
    "allow_backorders": "Keep selling when sold out",
    "low_stock_threshold": "Stock is low at",
    "barcode": "Barcode (EAN, UPC)",
    "compare_price": "Previous price (crossed out)",
    "cost_price": "What you pay for it",
    "is_taxable": "Charge tax",
    "tax_class": "Tax class",
    "tic_code": "Tax code for a tax service",
    "show_lowest_price": "Show “from” with the lowest price",
    "exclude_from_group_discounts": "No discounts for customer groups",
    "allow_custom_price": "Let shoppers choose the price",
    "min_custom_price": "Lowest price that they can choose",
    "requires_shipping": "Is sent or collected",
    "media_mail_eligible": "Can be sent as media mail (US)",
    "weight": "Weight",
    "dimension_unit": "Unit of length",
    "shipping_origin": "Sent from",
    "max_downloads": "Downloads of each file",
    "download_expiry_days": "Days for which files can be downloaded",
    "noindex": "Hide from search engines",
    "meta_title": "Title in search results",
    "meta_description": "Description in search results",
    "canonical_url": "Address of the original page",
    "og_image_url": "Picture for social media",
    "exclude_from_catalog": "Hide from product lists",
    "publish_at": "Publish on",
    "unpublish_at": "Unpublish on",
    "sale_price": "Sale price",
    "sale_from": "Sale begins",
    "sale_until": "Sale ends",
    "is_preorder": "Pre-order",
    "available_from": "Pre-order is sent from",
    "is_featured": "Show on the home page",
    "is_new": "Mark as new",
    "is_pinned": "Show first in lists",
    "is_gift_card": "Gift card",
    "is_active": "For sale",
    "default_variant": "Variant selected at first",
    "sort_order": "Position in lists",
    "vendor": "Supplier",
    "alt": "Description for those who cannot see it",
}
HELP = {
    "tic_code": "Only if a tax service asks for it.",
    "canonical_url": "If search engines should list another page with the same product instead.",
    "og_image_url": "The address of a picture. Empty: the product's first picture.",
    "short_description": "One or two sentences for lists and search results.",
    "sort_order": "Small numbers come first.",
}

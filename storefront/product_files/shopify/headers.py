"""The headers of Shopify's product CSV, which are English in every shop."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from storefront.catalogue.parsing import quoted
from storefront.product_files import translated_columns
from storefront.product_files.csv_reading import normalised_header
from storefront.product_files.rows import refusal_without, unknown_column
from storefront.product_files.shopify.metafields import metafield_of, renamed

# Every column that is read, with its old and new headers and those found in real files.
HEADERS: dict[str, tuple[str, ...]] = {
    "handle": ("Handle", "URL handle"),
    "title": ("Title",),
    "body": ("Body (HTML)", "Body HTML", "Body", "Description"),
    "vendor": ("Vendor",),
    "category": ("Product Category", "Standard Product Type", "Standardized Product Type"),
    "type": ("Type", "Custom Product Type", "Product Type"),
    "tags": ("Tags",),
    "published": ("Published", "Published on online store"),
    "status": ("Status",),
    "sku": ("Variant SKU", "SKU"),
    "barcode": ("Variant Barcode", "Barcode"),
    "price": ("Variant Price", "Price"),
    "compare price": ("Variant Compare At Price", "Compare-at price", "Compare at price"),
    "cost": ("Cost per item", "Variant Cost"),
    "taxable": ("Variant Taxable", "Charge tax"),
    "tax code": ("Variant Tax Code", "Tax code"),
    "tracker": ("Variant Inventory Tracker", "Inventory tracker"),
    "quantity": ("Variant Inventory Qty", "Variant Inventory Quantity", "Inventory quantity"),
    "policy": ("Variant Inventory Policy",),
    "continue selling": ("Continue selling when out of stock",),
    "grams": ("Variant Grams", "Weight value (grams)"),
    "requires shipping": ("Variant Requires Shipping", "Requires shipping"),
    "image": ("Image Src", "Product image URL"),
    "image position": ("Image Position",),
    "image text": ("Image Alt Text",),
    "variant image": ("Variant Image", "Variant image URL"),
    "gift card": ("Gift Card",),
    "meta title": ("SEO Title",),
    "meta description": ("SEO Description",),
} | {f"option{n} {part}": (f"Option{n} {part}",) for n in (1, 2, 3) for part in ("name", "value")}

_KNOWN = {normalised_header(header): name for name, headers in HEADERS.items() for header in headers}

# Columns that are not imported, with the values that lose nothing.
_UNCARRIED: list[tuple[re.Pattern[str], set[str]]] = [
    (re.compile(r"(variant )?fulfillment service\Z"), {"manual"}),
    # Weights are in grams whatever unit is shown.
    (re.compile(r"(variant )?weight unit( for display)?\Z"), {"g", "kg", "lb", "oz"}),
    (re.compile(r"(variant )?unit price (total|base) measure( unit)?\Z"), set()),
    (re.compile(r"google shopping\b"), set()),
    (re.compile(r"included / "), {"true"}),
    (re.compile(r"(compare at |compare-at )?price / "), set()),
    (re.compile(r"option[123] linked to\Z"), set()),
    (re.compile(r"collection\Z"), set()),
]
# The value of an option in exports of ours, for a variant that fits any.
ANY = "Any"
_INVENTORY = re.compile(r"(on hand|available|committed|unavailable|incoming)\b")


@cache
def column_of(header: str) -> str | None:
    """The header's column, a key of HEADERS or that of a metafield; None if it is not imported or not known."""
    if (metafield := metafield_of(header)) and metafield.is_imported:
        return metafield.column
    return _KNOWN.get(normalised_header(header)) or translated_columns.column_of(header)


def harmless_values(header: str) -> set[str] | None:
    """The values that lose nothing, of a column that is not imported; None if it is imported, or not known."""
    if metafield := metafield_of(header):
        return None if metafield.is_imported else set()
    plain = normalised_header(header)
    return next((values for pattern, values in _UNCARRIED if pattern.match(plain)), None)


def warnings(headers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(column, reason) for each header that is not known."""
    known = [name for names in HEADERS.values() for name in names]
    for position, header in enumerate(headers):
        if column_of(header) is None and harmless_values(header) is None:
            yield unknown_column(position, header, known)
    labels = [(header, found) for header in headers if (found := metafield_of(header)) and found.is_imported]
    for (header, label), named in zip(labels, renamed(found for _, found in labels), strict=True):
        if named != label:
            yield header, f"has the label of another column; the attribute is named {quoted(named.name)}"


def refusal(headers: Sequence[str], columns: Collection[str], *, update: bool) -> str:
    """The reason why a file with these headers is not imported, although it looks like Shopify's; empty if it is
    imported."""
    plain = [normalised_header(header) for header in headers]
    if "location" in plain and any(_INVENTORY.match(header) for header in plain):
        return "This is Shopify's export of inventory, which has no prices or descriptions. Upload that of products."
    needed = {"title": "Title", "price": "Variant Price (or Price)"}
    missing = [header for column, header in needed.items() if column not in columns]
    return "" if update else refusal_without("Shopify", missing)

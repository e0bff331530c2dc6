"""Warns of texts, lists, weights and amounts of existing products that empty cells of a file clear."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from storefront.catalogue import children
from storefront.catalogue.models import Variant
from storefront.product_files.parsed_products import NAMED, ParsedProduct
from storefront.product_files.shopify import metafields

# Columns of the file by their names in its format, with their headers.
Headers = Mapping[str, str]
_AMOUNTS = {
    "weight": ("weight", "grams"),
    "cost_price": ("cost", "cost_price"),
    "compare_price": ("compare price", "compare_price"),
}
# By member, the columns of all formats that it is read from.
_COLUMNS = {
    **_AMOUNTS,
    "description": ("description", "body"),
    "short_description": ("short description", "short_description"),
    "sku": ("sku",),
    "barcode": ("barcode",),
    "tags": ("tags",),
    "meta_title": ("meta title", "yoast title", "rank math title"),
    "meta_description": ("meta description", "yoast description", "rank math description"),
    "tic_code": ("tax code",),
    "attributes": ("attribute 1 name",),
    "brand": ("brands", "vendor", "brand"),
    "image": ("variant image", "images"),
    "media": ("images", "image"),
    "alt": ("image text",),
    "canonical_url": ("yoast canonical", "rank math canonical"),
    "og_image_url": ("yoast picture", "rank math picture"),
    "categories": ("categories", "category", "type"),
    "stock_qty": ("stock", "quantity", "stock_qty"),
}


def header_of(member: str, headers: Headers) -> str:
    """The header of the column that the member is read from; the member itself in files without headers."""
    return next((headers[column] for column in _COLUMNS.get(member, ()) if column in headers), member)


def warn_of_cleared(
    parsed: ParsedProduct,
    variant_rows: Sequence[Variant | None],
    assignments: Iterable[tuple[Any, str, Any]],
    plans: children.Plans,
    headers: Headers,
) -> None:
    """Add a warning, of which a report has one for each column, for what the product's `assignments`, (row, attribute,
    value), and `plans` clear."""
    variants = parsed.variants or ()
    lines = {id(row): each.line for row, each in zip(variant_rows, variants, strict=True) if row is not None}
    for row, name, value in assignments:
        member = name.removesuffix("_id") if name.removesuffix("_id") in NAMED else name
        if member in _AMOUNTS and not value and getattr(row, name) and header_of(member, headers) in headers.values():
            reason = _("becomes 0, since the file has it empty or 0; reported once")
            parsed.warn_once_if_updated(header_of(member, headers), reason, lines.get(id(row)))
        elif _is_empty(member, value) and getattr(row, f"{name}_id" if name == "image" else name):
            header = _header_of_attributes(parsed, headers) if member == "attributes" else header_of(member, headers)
            parsed.warn_once_if_updated(
                header, _("is cleared, since the file has it empty; reported once"), lines.get(id(row))
            )
    for member, stated, plan in (
        ("media", parsed.media, plans.media),
        ("categories", parsed.categories, plans.categories),
    ):
        if stated == [] and plan is not None and plan.deletes:
            reason = _("is cleared, since the file names none; reported once")
            parsed.warn_once_if_updated(header_of(member, headers), reason)


def _is_empty(member: str, value: Any) -> bool:
    return value in ("", []) or (value is None and member in _COLUMNS)


def _header_of_attributes(parsed: ParsedProduct, headers: Headers) -> str:
    """The header of the first metafield that a Shopify file has empty, or of the first attribute of another file."""
    blank = [f"{metafields.COLUMN}{each.key} " for each in parsed.metafields or () if each.values is None]
    named = (header for column, header in headers.items() if any(map(column.startswith, blank)))
    return next(named, header_of("attributes", headers))

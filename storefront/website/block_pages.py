"""The URL from which a product page loads apps' blocks after the page itself."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from storefront.apps.models import Extension
from storefront.apps.pages import shared_blocks_page
from storefront.catalogue.models import Product
from storefront.kit.callers import client_network
from storefront.kit.money import ZERO, to_wire
from storefront.listing import queries as listing_queries
from storefront.pricing.queries import GroupTerms
from storefront.shops.models import Shop
from storefront.shops.request import Request
from storefront.website.pages import require_shop
from storefront.website.queries import variant_ranges


@require_safe
@require_shop
def product_blocks(request: Request, slug: str) -> HttpResponse:
    """Blocks for a cart with one piece of the product, the same for all visitors."""
    record = listing_queries.product_record_of_page(request.shop, slug, now=request.now)
    if record is None:
        raise Http404(_("This product does not exist or is no longer available."))
    price = _price(request.shop, record, request.now)
    items, totals = [_item(record, price)], _totals(price, tax_included=request.shop.prices_include_tax)
    return shared_blocks_page(
        request, Extension.Type.PRODUCT_BLOCK, items=items, totals=totals, place=client_network(request)
    )


def _price(shop: Shop, record: dict[str, Any], now: datetime) -> str | None:
    """The product's price; of a product with variants, the lowest, as the page shows it."""
    ranges = (
        variant_ranges(shop, [record["id"]], GroupTerms(shop.currency), now=now)
        if record["type"] == Product.Type.VARIABLE
        else {}
    )
    return to_wire(ranges[record["id"]].lowest) if ranges else record["price"]


def _item(record: dict[str, Any], price: str | None) -> dict[str, Any]:
    return {
        "product_id": record["id"],
        "variant_id": None,
        "qty": 1,
        "price_snapshot": price,
        "name_snapshot": record["name"],
        "image_snapshot": record["media"][0]["url"] if record["media"] else None,
        "is_digital": record["type"] == "digital",
        "is_bundle": record["type"] == "bundle",
        "bundle_items": [],
        "custom_fields": [],
        "is_damaged": False,
        "line_total": price,
        "options": [],
    }


def _totals(price: str | None, *, tax_included: bool) -> dict[str, Any]:
    nothing = dict.fromkeys(("shipping", "tax", "discount"), to_wire(ZERO))
    counts = {"item_count": 1, "line_count": 1, "tax_included": tax_included}
    return {"subtotal": price, **nothing, "total": price, **counts}

"""Where a product's page fetches apps' blocks, after the page is there."""

from typing import Any

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from storefront.apps.models import Extension
from storefront.apps.pages import blocks_page
from storefront.catalogue import queries as catalogue
from storefront.kit.money import ZERO, to_wire
from storefront.shops.request import Request
from storefront.website.pages import of_a_shop


@require_GET
@of_a_shop
def product_blocks(request: Request, slug: str) -> HttpResponse:
    """For one piece of the product, as it would stand in a cart."""
    record = catalogue.product_record(request.shop, slug, now=request.now)
    if record is None:
        raise Http404("This product does not exist, or is not sold any more.")
    return blocks_page(request, Extension.Type.PRODUCT_BLOCK, items=[_item(record)], totals=_totals(record["price"]))


def _item(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "product_id": record["id"],
        "variant_id": None,
        "qty": 1,
        "price_snapshot": record["price"],
        "name_snapshot": record["name"],
        "image_snapshot": record["media"][0]["url"] if record["media"] else None,
        "is_digital": record["type"] == "digital",
        "is_bundle": record["type"] == "bundle",
        "bundle_items": [],
        "custom_fields": [],
        "is_damaged": False,
        "line_total": record["price"],
        "options": [],
    }


def _totals(price: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("shipping", "tax", "discount"), to_wire(ZERO))
    return {"subtotal": price, **nothing, "total": price, "item_count": 1, "line_count": 1}

"""Where the checkout and the confirmation fetch apps' blocks, after the page is there. No order depends on it."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from storefront.apps.models import Extension
from storefront.apps.pages import blocks_page
from storefront.carts.schemas import contents_record
from storefront.carts.session import basket_of
from storefront.checkout import queries
from storefront.checkout.pages import private
from storefront.kit.money import to_wire
from storefront.orders.models import Order, OrderLine
from storefront.orders.queries import order_by_public_id
from storefront.shops.request import Request

_MONEY = ("subtotal", "shipping", "tax", "discount", "total")


@require_GET
@private
def checkout_blocks(request: Request) -> HttpResponse:
    """For the basket as the cart's read shows it, with delivery and tax as far as they are known."""
    cart = basket_of(request)
    if cart is None:
        return HttpResponse(status=204)
    checkout = queries.open_checkout(request.shop, cart)
    quote = queries.quote(request.shop, cart, checkout, request.now)
    return blocks_page(request, Extension.Type.CHECKOUT_BLOCK, **contents_record(quote.lines, quote.totals))


@require_GET
@private
def confirmation_blocks(request: Request, public_id: UUID) -> HttpResponse:
    """For the order's lines, for whoever knows the order's unguessable address."""
    order = order_by_public_id(request.shop, public_id)
    if order is None:
        raise Http404
    items = [_item(line) for line in order.lines.all()]
    return blocks_page(request, Extension.Type.CONFIRMATION_BLOCK, items=items, totals=_totals(order, items))


def _item(line: OrderLine) -> dict[str, Any]:
    """The line with the names that it had in the cart, so that an app reads all its calls alike."""
    return {
        "product_id": line.product_id,
        "variant_id": line.variant_id,
        "qty": line.qty,
        "price_snapshot": to_wire(line.unit_price),
        "name_snapshot": line.name,
        "image_snapshot": line.image,
        "is_digital": line.is_digital,
        "is_bundle": line.is_bundle,
        "bundle_items": line.bundle_items,
        "custom_fields": line.custom_fields,
        "is_damaged": line.is_damaged,
        "line_total": to_wire(line.line_total),
        "options": line.options,
    }


def _totals(order: Order, items: list[dict[str, Any]]) -> dict[str, Any]:
    money = {name: to_wire(getattr(order, name)) for name in _MONEY}
    return money | {"item_count": sum(item["qty"] for item in items), "line_count": len(items)}

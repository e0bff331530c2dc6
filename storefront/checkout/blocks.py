"""Apps' blocks in the checkout and on the confirmation page. The browser fetches them after the page has loaded, so
that no order depends on an app."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from storefront.apps.models import Extension
from storefront.apps.pages import blocks_page
from storefront.carts.merging import last_arrival
from storefront.carts.schemas import contents_record
from storefront.carts.session import basket_of
from storefront.checkout import queries
from storefront.checkout.order_access import for_its_shopper
from storefront.checkout.owner import owner_of
from storefront.kit.money import to_wire
from storefront.orders.models import Order, OrderLine
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request

_MONEY = ("subtotal", "shipping", "tax", "discount", "total")


@require_GET
@private_page
def checkout_blocks(request: Request) -> HttpResponse:
    """Blocks for the basket. Apps get its lines and totals, with delivery and tax as far as they are known, and the
    checkout link that the order will belong to."""
    cart = basket_of(request)
    if cart is None:
        return HttpResponse(status=204)
    checkout = queries.open_checkout(request.shop, cart, owner_of(request))
    quote = queries.quote(request.shop, cart, checkout, request.now)
    arrival = last_arrival(request.shop, cart, quote.lines)
    link = arrival.checkout_link if arrival else None
    contents = contents_record(quote.lines, quote.totals)
    return blocks_page(request, Extension.Type.CHECKOUT_BLOCK, link=link, **contents)


@require_GET
@private_page
@for_its_shopper
def confirmation_blocks(request: Request, order: Order) -> HttpResponse:
    """Blocks for a placed order. Apps get its lines and totals, and its checkout link."""
    items = [_item(line) for line in order.lines.all()]
    totals = _totals(order, items)
    return blocks_page(request, Extension.Type.CONFIRMATION_BLOCK, items=items, totals=totals, link=order.checkout_link)


def _item(line: OrderLine) -> dict[str, Any]:
    """The line with the member names of a cart line, so that apps get the same format in all calls."""
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
    return (
        money
        | {"item_count": sum(item["qty"] for item in items), "line_count": len(items)}
        | {"tax_included": order.prices_include_tax}
    )

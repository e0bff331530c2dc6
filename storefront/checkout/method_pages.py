"""The payment methods of a checkout as JSON, for scripts and programs that show them before the payment page."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from storefront.carts.session import basket_of
from storefront.checkout import queries
from storefront.checkout.owner import owner_of
from storefront.kit.api.http import json_response
from storefront.kit.money import to_wire
from storefront.payments.methods import PaymentMethod, payment_methods
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request


@require_safe
@private_page
def methods(request: Request) -> HttpResponse:
    """`{currency, amount_due, payment_methods}` of the visitor's basket, with delivery and tax as far as they are
    known; 204 for an empty one.

    Each method is `{name, label, usable, reason, message, minimum, amount_due}`: `reason` and `message` are null if it
    is usable, amounts have two fraction digits, and a `minimum` of "0.00" is none.
    """
    cart = basket_of(request)
    if cart is None:
        return HttpResponse(status=204)
    checkout = queries.open_checkout(request.shop, cart, owner_of(request))
    quote = queries.quote(request.shop, cart, checkout, request.now, request.language)
    if not quote.lines:
        return HttpResponse(status=204)
    found = [_record(each) for each in payment_methods(request.shop, quote.totals)]
    due = to_wire(quote.totals.amount_due)
    return json_response({"currency": request.shop.currency, "amount_due": due, "payment_methods": found})


def _record(method: PaymentMethod) -> dict[str, Any]:
    return {
        "name": method.provider.name,
        "label": method.provider.label,
        "usable": method.usable,
        "reason": method.reason or None,
        "message": method.message or None,
        "minimum": to_wire(method.minimum),
        "amount_due": to_wire(method.amount_due),
    }

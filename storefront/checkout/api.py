from typing import Annotated

from django.http import HttpResponse
from ninja import Header, Router

from storefront.carts import queries as carts
from storefront.checkout import link
from storefront.checkout.schemas import CheckoutLink
from storefront.kit.http import json_response
from storefront.kit.refusals import Refusal
from storefront.kit.schemas import answers
from storefront.shops.auth import scope
from storefront.shops.request import Request

router = Router(tags=["Cart"])

CartToken = Annotated[str | None, Header(alias="X-Cart-Token", description="The token that names the cart.")]


class EmptyCart(Refusal):
    """There is nothing to pay for, or no cart at all (contract: Checkout handoff rules, 4)."""

    code, field = "empty_cart", "cart"
    message = "The cart is empty. Add something before going to checkout."


@router.post(
    "/cart/checkout",
    response=answers({200: CheckoutLink}, 422),
    auth=scope("write_cart"),
    summary="Get a checkout link",
)
def issue_checkout_link(request: Request, cart_token: CartToken = None) -> HttpResponse:
    """A signed link, valid for an hour, that hands the shopper to the shop's own checkout with this cart."""
    cart = carts.live_cart(request.shop, cart_token, request.now)
    if cart is None or not carts.cart_lines(request.shop, cart):
        raise EmptyCart
    url = link.issue_checkout_link(shop=request.shop, cart=cart, now=request.now)
    answer = {"cart_token": cart_token, "checkout_url": url, "expires_in": link.LIFETIME}
    return json_response(answer, headers={"Cache-Control": "no-store"})

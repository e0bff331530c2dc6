from typing import Annotated

from django.http import HttpResponse
from ninja import Header, Router

from storefront.carts import queries as carts
from storefront.carts.actions import NO_CART
from storefront.carts.checking import cart_problems, check_cart
from storefront.checkout import link
from storefront.checkout.schemas import CheckoutLink, CheckoutLinkGiven
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import answers
from storefront.kit.refusals import Refusal
from storefront.shops.auth import scope
from storefront.shops.locales import language_named
from storefront.shops.request import Request

# Requesting a link needs `write_cart` (R-LINK-7).
router = Router(tags=["Cart"])

CartToken = Annotated[str | None, Header(alias="X-Cart-Token", description="The cart's token.")]


class EmptyCart(Refusal):
    """The cart is empty, or there is no cart (R-LINK-5)."""

    code, field = "empty_cart", "cart"
    message = "The cart is empty. Add something before going to checkout."


class NothingAvailable(Refusal):
    """No line of the cart can be bought now, not even in a lower quantity (R-LINK-25)."""

    code, message = "nothing_available", "Nothing in the cart can be bought at the moment."


@router.post(
    "/cart/checkout",
    response=answers({200: CheckoutLink}, 400, 413, 415, 422),
    auth=scope("write_cart"),
    summary="Get a checkout link",
)
def create_checkout_link(
    request: Request, body: CheckoutLinkGiven | None = None, cart_token: CartToken = None
) -> HttpResponse:
    """A signed link that takes the shopper to the shop's checkout with this cart. It is valid for one hour.

    The order has what the body gives, and can be found by it. `problems` are those of the cart; if nothing in it can be
    bought, there is no link.
    """
    language = language_named(request.shop, body.locale) if body and body.locale is not None else ""
    cart, lines = carts.cart_with_lines(request.shop, request.now, token=cart_token)
    if cart is None:
        raise EmptyCart(NO_CART)
    if not lines:
        raise EmptyCart
    checks = check_cart(request.shop, cart, lines, request.now)
    problems = cart_problems(request.shop, checks)
    if not any(check.left for check in checks):
        raise NothingAvailable(problems=[each | {"field": each["key"]} for each in problems])
    attribution = body.model_dump(exclude_none=True, exclude={"locale"}) if body else {}
    url = link.issue_checkout_link(
        shop=request.shop, cart=cart, attribution=attribution, language=language, now=request.now
    )
    # The members of R-LINK-1.
    answer = {"cart_token": cart_token, "checkout_url": url, "expires_in": link.LIFETIME_SECONDS, "problems": problems}
    return json_response(answer, headers={"Cache-Control": "no-store"})

"""The checkout link: a password for one hour (contract: Checkout handoff rules; decisions: Checkout link).

Threats: a link that was altered, guessed or kept must open nothing, so the signature covers the whole URL as it was
made, byte by byte, and the time it ends. A link that was read over a shoulder must not be found later, so it is taken
out of the request before anything can log it, is never stored, and the browser is led to a URL without it at once.
"""

from datetime import datetime
from urllib.parse import parse_qs
from uuid import UUID

from django.views.decorators.debug import sensitive_variables

from storefront.carts import queries as carts
from storefront.carts.models import LIFETIME as CART_LIFETIME
from storefront.carts.models import Cart
from storefront.kit.refusals import Refusal
from storefront.kit.signing import is_signed_url, sign_url
from storefront.shops.models import Shop

PATH = "/cart/resume"
LIFETIME = 3600


class LinkRefused(Refusal):
    """The link is not one that the shop made, or its hour is over, or its cart is gone."""

    status, code = 403, "link_refused"
    message = "This checkout link has expired or is not complete."


def issue_checkout_link(*, shop: Shop, cart: Cart, now: datetime) -> str:
    """A URL that loads the cart into the checkout of whoever follows it within `LIFETIME` seconds.

    Asking for it is a write on the cart and renews the cart's life, so that the cart outlives its link.
    """
    Cart.objects.filter(shop=shop, pk=cart.pk).update(updated_at=now, expires_at=now + CART_LIFETIME)
    expires = int(now.timestamp()) + LIFETIME
    return sign_url(f"{shop.base_url}{PATH}?cart={cart.public_id}&expires={expires}")


@sensitive_variables()
def cart_of_link(*, shop: Shop, query: str, now: datetime) -> Cart:
    """The cart that a followed link names. `query` is the query string exactly as it arrived.

    Raises LinkRefused for anything but a live link of this shop to a live cart.
    """
    # The URL is rebuilt from the shop's own address: a Host header that a caller controls decides nothing.
    if not is_signed_url(f"{shop.base_url}{PATH}?{query}"):
        raise LinkRefused
    # Only `issue_checkout_link` made this, so its parts are there and have their form.
    parts = parse_qs(query)
    if now.timestamp() > int(parts["expires"][0]):
        raise LinkRefused
    cart = carts.cart_by_public_id(shop, UUID(parts["cart"][0]), now)
    if cart is None:
        raise LinkRefused
    return cart

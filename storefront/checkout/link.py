"""The checkout link: as secret as a password, and valid for one hour (R-LINK-8).

Threats: an altered, guessed or old link must not work. So the signature covers the whole URL, byte by byte, including
its expiry. A link must not leak from logs or the browser's history. So its query is removed from the request before
anything can log it, it is never stored, and the browser is redirected at once to a URL without it. The integration that
created the cart, and people who forward the link, must not see what the follower enters. So following the link copies
the cart, and the link has a public id of its own instead of the cart's.
"""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs
from uuid import UUID

from django.views.decorators.debug import sensitive_variables

from storefront.carts import queries as carts
from storefront.carts.models import LIFETIME as CART_LIFETIME
from storefront.carts.models import Cart, CheckoutLink
from storefront.kit.refusals import Refusal
from storefront.kit.signing import is_signed_url, sign_url
from storefront.shops.models import Shop

PATH = "/cart/resume"
LIFETIME_SECONDS = 3600
# Expired links are kept this much longer, in case the clocks of machines differ.
KEPT_FOR = timedelta(minutes=5)


class LinkRefused(Refusal):
    """The link was not issued by the shop, or it has expired, or its cart no longer exists."""

    status, code = 403, "link_refused"
    message = "This checkout link has expired or is incomplete."


def issue_checkout_link(*, shop: Shop, cart: Cart, now: datetime) -> str:
    """A URL that copies the cart into the checkout of the shopper who follows it within `LIFETIME_SECONDS` seconds. Its
    parameters have a fixed order (R-LINK-2); `cart` is an id made for this link alone (R-LINK-3).

    Renews the cart, so that it outlives the link (R-LINK-6).
    """
    Cart.objects.filter(shop=shop, pk=cart.pk).update(updated_at=now, expires_at=now + CART_LIFETIME)
    expires = int(now.timestamp()) + LIFETIME_SECONDS
    ends = datetime.fromtimestamp(expires, UTC)
    link = CheckoutLink.objects.create(shop=shop, cart=cart, created_at=now, expires_at=ends)
    return sign_url(f"{shop.base_url}{PATH}?cart={link.public_id}&expires={expires}")


def delete_expired_links(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` expired links. Returns how many were deleted."""
    old = CheckoutLink.objects.filter(expires_at__lt=now - KEPT_FOR).order_by("expires_at").values_list("pk", flat=True)
    return CheckoutLink.objects.filter(pk__in=list(old[:limit])).delete()[0]


@sensitive_variables()
def cart_of_link(*, shop: Shop, query: str, now: datetime) -> Cart:
    """The cart of a followed link. `query` is the query string, byte by byte as it arrived.

    Raises LinkRefused unless it is an unexpired link of this shop to a live cart (R-LINK-9).
    """
    # Rebuild the URL from the shop's own address, not from the Host header, which the caller controls.
    if not is_signed_url(f"{shop.base_url}{PATH}?{query}"):
        raise LinkRefused
    # The signature is valid, so `issue_checkout_link` made the query, and its parameters are present and valid.
    parameters = parse_qs(query)
    if now.timestamp() > int(parameters["expires"][0]):
        raise LinkRefused
    cart = _cart_with_link(shop, UUID(parameters["cart"][0]), now)
    if cart is None:
        raise LinkRefused
    return cart


def _cart_with_link(shop: Shop, public_id: UUID, now: datetime) -> Cart | None:
    links = CheckoutLink.objects.filter(shop=shop, public_id=public_id, cart__expires_at__gt=now)
    link = links.select_related("cart").first()
    if link is not None:
        return link.cart
    # Older links have the cart's own public id. They expire like all others, by their signed expiry.
    cart = carts.cart_by_public_id(shop, public_id, now)
    return cart if cart is not None and cart.token_digest is not None else None

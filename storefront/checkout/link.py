"""The checkout link: as secret as a password, and valid for one hour (R-LINK-8).

Threats: an altered, guessed or old link must not work. So the signature covers the whole URL, byte by byte, including
its expiry. A link must not leak from logs or the browser's history. So its query is removed from the request before
anything can log it, it is never stored, and the browser is redirected at once to a URL without it. The integration that
created the cart, and people who forward the link, must not see what the follower enters. So following the link copies
the cart, and the link has a public id of its own instead of the cart's.

Ways back to the integration's site that sent the shopper here: after the order, or instead of it (R-LINK-23).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from storefront.carts.merging import last_arrival
from storefront.carts.models import LIFETIME as CART_LIFETIME
from storefront.carts.models import Cart, CartLine, CheckoutLink
from storefront.kit.refusals import Refusal
from storefront.kit.signing import is_signed_url, sign_url
from storefront.orders.models import Order
from storefront.pods.moves import NOT_MOVING
from storefront.shops.models import Shop
from storefront.shops.queries import origin_is_allowed
from storefront.shops.spoken import path_of_language

PATH = "/cart/resume"
LIFETIME_SECONDS = 3600
# Expired links are kept this much longer: a session can copy the cart for an hour after it followed the link
# (`link_pages`). And the clocks of machines can differ.
KEPT_FOR = timedelta(seconds=LIFETIME_SECONDS, minutes=5)
# Placeholder in a `return_url`, replaced by the order's number.
ORDER_NUMBER = "{ORDER_NUMBER}"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class LinkRefused(Refusal):
    """The link was not issued by the shop, or it has expired, or its cart no longer exists."""

    status, code = 403, "link_refused"
    message = _("This checkout link has expired or is incomplete.")


class OriginNotAllowed(Refusal):
    """The URL leads to a site that the merchant has not allowed (R-LINK-21)."""

    code = "origin_not_allowed"
    message = _("Shoppers can only be led back to origins that the shop allows.")


def issue_checkout_link(
    *, shop: Shop, cart: Cart, attribution: Mapping[str, Any], language: str = "", now: datetime
) -> str:
    """A URL that copies the cart into the checkout of the shopper who follows it within `LIFETIME_SECONDS` seconds. Its
    parameters have a fixed order (R-LINK-2); `cart` is an id made for this link alone (R-LINK-3).

    `attribution` is what the integration gives, by column of `carts.models.Attributed`. The link leads to pages in the
    shop's `language`, which its signature does not cover (R-LINK-26). Renews the cart, so that it
    outlives the link (R-LINK-6). Raises OriginNotAllowed.
    """
    _check_origins(shop, attribution)
    Cart.objects.filter(shop=shop, pk=cart.pk).update(updated_at=now, expires_at=now + CART_LIFETIME)
    expires = int(now.timestamp()) + LIFETIME_SECONDS
    ends = datetime.fromtimestamp(expires, UTC)
    link = CheckoutLink.objects.create(shop=shop, cart=cart, created_at=now, expires_at=ends, **attribution)
    url = sign_url(f"{shop.base_url}{PATH}?cart={link.public_id}&expires={expires}")
    return shop.base_url + path_of_language(shop, language) + url.removeprefix(shop.base_url)


def link_of_cart(shop: Shop, cart: Cart, public_id: str) -> CheckoutLink | None:
    """The cart's link with this public id, expired or not, as long as it is kept."""
    return CheckoutLink.objects.filter(shop=shop, cart=cart, public_id=public_id).first()


def delete_expired_links(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` expired links. Returns how many were deleted."""
    old = (
        CheckoutLink.objects.filter(NOT_MOVING, expires_at__lt=now - KEPT_FOR)
        .order_by("expires_at")
        .values_list("pk", flat=True)
    )
    return CheckoutLink.objects.filter(pk__in=list(old[:limit])).delete()[0]


@sensitive_variables()
def followed_link(*, shop: Shop, query: str, now: datetime) -> CheckoutLink:
    """The link that was followed. `query` is the query string, byte by byte as it arrived.

    Raises LinkRefused unless it is an unexpired link of this shop to a live cart (R-LINK-9).
    """
    # Rebuild the URL from the shop's own address, not from the Host header, which the caller controls.
    if not is_signed_url(f"{shop.base_url}{PATH}?{query}"):
        raise LinkRefused
    # The signature is valid, so `issue_checkout_link` made the query, and its parameters are present and valid.
    parameters = parse_qs(query)
    if now.timestamp() > int(parameters["expires"][0]):
        raise LinkRefused
    links = CheckoutLink.objects.filter(shop=shop, public_id=parameters["cart"][0], cart__expires_at__gt=now)
    link = links.select_related("cart").first()
    if link is None:
        raise LinkRefused
    return link


def _check_origins(shop: Shop, attribution: Mapping[str, Any]) -> None:
    errors = {}
    for name in ("return_url", "cancel_url"):
        origin = origin_of(attribution.get(name, ""))
        if "@" in origin:
            # The origin is not repeated, since it may hold a password.
            errors[name] = [f"{name} must not contain a user name or password."]
        elif origin and not origin_is_allowed(origin, shop=shop):
            sentence = f"{name} must be on an origin that the shop allows, and {origin} is not one."
            errors[name] = [f"{sentence} The merchant adds origins in the shop's admin, under Allowed origins."]
    if errors:
        raise OriginNotAllowed(errors=errors)


@dataclass(frozen=True)
class WayBack:
    """A link to another site. `host` is what the shopper reads, such as `www.example.com`."""

    url: str
    host: str


def way_back_from(order: Order) -> WayBack | None:
    """The link to the order's `return_url`, with the order's number where the URL asks for it."""
    return _way_back(order.return_url.replace(ORDER_NUMBER, str(order.number)))


def way_back_of_basket(shop: Shop, cart: Cart, lines: Sequence[CartLine]) -> WayBack | None:
    """The link to the `cancel_url` of the checkout link that brought items of this basket."""
    arrival = last_arrival(shop, cart, lines)
    return _way_back(arrival.cancel_url) if arrival else None


def origin_of(url: str) -> str:
    """The URL's origin as browsers send it: scheme, host and port, in lower case, without a default port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower().removesuffix(_DEFAULT_PORTS[parts.scheme]) if url else ""


def _way_back(url: str) -> WayBack | None:
    return WayBack(url, urlsplit(url).hostname or "") if url else None

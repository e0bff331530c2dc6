"""Followed checkout links: the session records them, and the checkout's first step copies their carts' lines into the
basket (R-LINK-12, R-LINK-13).

Programs that only open a link, such as mail scanners and previews, do not get to that step, so they create no cart
(R-LINK-14).
"""

from datetime import timedelta
from uuid import UUID, uuid4

from storefront.carts import queries as carts
from storefront.carts.merging import copy_into_basket
from storefront.carts.models import Cart
from storefront.carts.session import open_basket
from storefront.checkout.link import LIFETIME_SECONDS, link_of_cart
from storefront.shops.request import Request

_LINKS = "links"
# How many followed carts a session records before they are copied. The oldest are dropped.
MAX_ARRIVALS = 5


def remember_link(request: Request, cart: Cart, link_id: UUID | str) -> None:
    """Record in the session that the link with this public id, to this integration's cart, was followed. Copies nothing
    yet."""
    before = request.session.get(_LINKS, {}).get(str(request.shop.pk), {})
    others = [public_id for public_id in before.get("carts", []) if public_id != str(cart.public_id)]
    until = request.now + timedelta(seconds=LIFETIME_SECONDS)
    kept = [*others, str(cart.public_id)][-MAX_ARRIVALS:]
    links = {**before.get("links", {}), str(cart.public_id): str(link_id)}
    followed = {
        "carts": kept,
        # The last followed link to each cart.
        "links": {public_id: links[public_id] for public_id in kept if public_id in links},
        # Id of the basket for a visitor without one. Chosen now, so that concurrent first steps create one basket.
        "basket": before.get("basket") or str(uuid4()),
        "until": int(until.timestamp()),
    }
    request.session[_LINKS] = {**request.session.get(_LINKS, {}), str(request.shop.pk): followed}


def copy_followed_carts(request: Request) -> None:
    """Copy the lines of the followed carts into the visitor's basket, and forget the links.

    Replaces what the same carts brought before. Copies nothing if the last link was followed more than an hour ago.
    """
    links = request.session.get(_LINKS, {})
    followed = links.get(str(request.shop.pk))
    if not followed:
        return
    request.session[_LINKS] = {shop: others for shop, others in links.items() if shop != str(request.shop.pk)}
    if request.now.timestamp() > followed["until"]:
        return
    for public_id in followed["carts"]:
        source = carts.cart_by_public_id(request.shop, public_id, request.now)
        if source is not None and source.token_digest is not None:
            basket = open_basket(request, UUID(followed["basket"]))
            link_id = followed.get("links", {}).get(public_id)
            link = link_of_cart(request.shop, source, link_id) if link_id else None
            copy_into_basket(shop=request.shop, source=source, target=basket, link=link, now=request.now)

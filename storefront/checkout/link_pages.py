"""Followed checkout links: the page records them in the session, and the checkout's first step copies their carts'
lines into the basket (R-LINK-12, R-LINK-13).

Programs that only open a link, such as mail scanners and previews, do not get to that step, so they create no cart
(R-LINK-14).
"""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from storefront.carts import queries as carts
from storefront.carts.merging import copy_into_basket
from storefront.carts.models import Cart, CheckoutLink
from storefront.carts.session import browser_basket, open_basket
from storefront.checkout.link import LIFETIME_SECONDS, LinkRefused, followed_link, link_of_cart
from storefront.customers.session import customer_of
from storefront.kit.api.http import SeeOther, pop_query_string
from storefront.shops.handover import Purpose, issue_code
from storefront.shops.places import SECURE, SHOP, page_address, spoken_base
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request
from storefront.staff.doors import let_in

# Path at the secure place to which a link that was followed on the shop's pages redirects; its page is
# `handover_pages.arrive_by_link`.
LINK_ARRIVAL = "/cart/arrive"
_LINKS = "links"
# How many followed carts a session records before they are copied. The oldest are dropped.
MAX_ARRIVALS = 5


@require_safe
@private_page
@sensitive_variables()
def resume(request: Request) -> HttpResponse:
    """Record in the session that a checkout link was followed, and redirect to a URL without the link's secret
    (R-LINK-10). HEAD records nothing (R-LINK-14)."""
    query = pop_query_string(request)
    try:
        link = followed_link(shop=request.shop, query=query, now=request.now)
    except LinkRefused as refusal:
        return link_refused(request, refusal)
    if request.method == "GET":
        let_in(request)
    if request.place == SHOP:
        return SeeOther(_secure_url(request, link))
    if request.method == "GET":
        remember_link(request, link.cart, link.public_id)
    return SeeOther(reverse("checkout:checkout"))


def link_refused(request: Request, refusal: LinkRefused) -> HttpResponse:
    return render(request, "checkout/link_refused.html", {"refusal": refusal}, status=refusal.status)


def _secure_url(request: Request, link: CheckoutLink) -> str:
    """The URL at the secure place that continues a link followed on the shop's pages. It holds a code that is as secret
    as the link (R-LINK-18). A HEAD request, as from a link preview, gets no code."""
    if request.method != "GET":
        return page_address("checkout:checkout", shop=request.shop)
    has_basket = customer_of(request) is None and browser_basket(request) is not None
    payload = {"cart": str(link.cart.public_id), "link": str(link.public_id), "has_basket": has_basket}
    code = issue_code(shop=request.shop, purpose=Purpose.LINK, payload=payload, now=request.now)
    return f"{spoken_base(SECURE, request.shop)}{LINK_ARRIVAL}?{urlencode({'code': code})}"


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

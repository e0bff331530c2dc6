"""Handover of a visitor between the shop's pages and its secure pages, if these have a host of their own.

The destination starts the handover. Its `/arrive?next=` stores a state in its session and redirects the browser to
`/hand-over?state=` at the other place. That redirects back to `/arrive?code=`, which redeems the code if this session
has stored the state, and redirects to `next`. So nobody can be given a basket or a sign-in that is not theirs.

The secure place receives the basket only, never a sign-in, because apps' scripts run on the shop's pages. The shop's
pages receive the basket and the signed-in customer, whose prices they show; if nobody is signed in, the visitor is
signed out there too. A checkout link is followed on the shop's pages and continues at the secure place with a code of
its own.

All URLs of this module are as secret as a checkout link: they are not logged, not stored, and not sent to other sites.
"""

import secrets
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import get_script_prefix, reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_GET, require_safe

from storefront.carts import queries as carts
from storefront.carts.session import adopt_basket, basket_of, browser_basket, sign_in, sign_out
from storefront.checkout.link import LinkRefused
from storefront.checkout.link_pages import link_refused, remember_link
from storefront.customers import limits
from storefront.customers import session as customers
from storefront.customers.limits import LimitReached
from storefront.customers.session import customer_of
from storefront.kit.api.http import SeeOther, pop_query_string
from storefront.shops.handover import Purpose, issue_code, redeem_code, state_digest
from storefront.shops.places import (
    ARRIVAL,
    ARRIVALS,
    SECURE,
    SHOP,
    arrival_url,
    base_of,
    is_navigation,
    local_path,
    spoken_base,
)
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request
from storefront.staff import doors

HAND_OVER = "/hand-over"
# Open handovers of a session, and characters of a state.
MAX_ARRIVALS, MAX_STATE_LENGTH = 5, 100


@require_GET
@private_page
@sensitive_variables()
def arrive(request: Request) -> HttpResponse:
    """Start a handover from the other place, or finish it if there is a `code`.

    `next` is the path of this shop at this place to redirect to in the end, below its language. On the shop's pages,
    `back` is a path at the secure place instead, with its language.
    """
    parameters = _take_parameters(request)
    if "code" in parameters:
        return _redeem_code(request, parameters["code"])
    try:
        limits.count(request, "arrivals")
    except LimitReached as refusal:
        return _limit_reached(request, refusal)
    back = local_path(parameters.get("back")) if request.place == SHOP else None
    if back:
        return _start_handover(request, onward=base_of(SECURE, request.shop) + back)
    path = local_path(parameters.get("next"))
    return _start_handover(request, onward=get_script_prefix()[:-1] + path if path else _start_url(request))


@require_GET
@private_page
@sensitive_variables()
def hand_over(request: Request) -> HttpResponse:
    """Issue a code for the visitor's basket and sign-in here, and redirect to the other place with it."""
    state = _take_parameters(request).get("state", "")
    if not 0 < len(state) <= MAX_STATE_LENGTH:
        raise Http404
    try:
        limits.count(request, "arrivals")
    except LimitReached as refusal:
        return _limit_reached(request, refusal)
    shop, customer = request.shop, customer_of(request)
    basket = None if customer else browser_basket(request)
    payload: dict[str, Any] = {"basket": str(basket.public_id) if basket else None}
    payload["is_let_in"] = doors.is_let_in(request)
    if request.place == SHOP:
        there, purpose = SECURE, Purpose.TO_SECURE
        payload["is_signed_in"] = customer is not None
    else:
        there, purpose = SHOP, Purpose.TO_SHOP
        payload["customer"] = customers.entry_of(customer) if customer else None
    code = issue_code(shop=shop, purpose=purpose, payload=payload, state=state, now=request.now)
    return SeeOther(f"{spoken_base(there, shop)}{ARRIVAL}?{urlencode({'code': code})}")


@require_GET
@private_page
@sensitive_variables()
def arrive_by_link(request: Request) -> HttpResponse:
    """Continue a checkout link that was followed on the shop's pages (`link_pages.resume`)."""
    code = _take_parameters(request).get("code")
    taken = redeem_code(shop=request.shop, purpose=Purpose.LINK, code=code, now=request.now)
    cart = carts.cart_by_public_id(request.shop, taken.payload["cart"], request.now) if taken else None
    if taken is None or cart is None:
        return link_refused(request, LinkRefused())
    remember_link(request, cart, taken.payload["link"])
    doors.let_in(request)
    checkout = reverse("checkout:checkout")
    return _start_handover(request, onward=checkout) if taken.payload["has_basket"] else SeeOther(checkout)


@require_safe
@private_page
def redirect_to_secure(request: Request, path: str) -> HttpResponse:
    """Redirect the path of a secure page on the shop's host, as in an old link or typed by hand, to the secure host.

    For order pages and mailed links the query is dropped, because it can hold a secret.
    """
    query = pop_query_string(request)
    if path.startswith(("orders/", "account/link")):
        return SeeOther(f"{spoken_base(SECURE, request.shop)}/{path}")
    return SeeOther(arrival_url(SECURE, request.shop, f"/{path}?{query}" if query else f"/{path}"))


def _take_parameters(request: Request) -> dict[str, str]:
    """The query parameters, removed from the request so that no log or error report contains them.

    Raises PermissionDenied for a request that is no navigation, such as one by a script.
    """
    if not is_navigation(request):
        raise PermissionDenied(_("This request came from another site, so it was refused."))
    return QueryDict(pop_query_string(request)).dict()


def _limit_reached(request: Request, refusal: LimitReached) -> HttpResponse:
    response = render(request, "checkout/link_refused.html", {"refusal": refusal}, status=refusal.status)
    for name, value in refusal.headers.items():
        response[name] = value
    return response


def _start_handover(request: Request, *, onward: str) -> HttpResponse:
    state = secrets.token_urlsafe(32)
    waiting = list(request.session.get(ARRIVALS, {}).items())[1 - MAX_ARRIVALS :]
    request.session[ARRIVALS] = dict([*waiting, (state_digest(state), onward)])
    other = SECURE if request.place == SHOP else SHOP
    return SeeOther(f"{spoken_base(other, request.shop)}{HAND_OVER}?{urlencode({'state': state})}")


@sensitive_variables()
def _redeem_code(request: Request, code: str) -> HttpResponse:
    waiting = request.session.get(ARRIVALS, {})
    purpose = Purpose.TO_SHOP if request.place == SHOP else Purpose.TO_SECURE
    taken = redeem_code(shop=request.shop, purpose=purpose, code=code, states=waiting, now=request.now)
    if taken is None:
        # A reload, the back button, or a browser without cookies: continue with what this session has.
        return SeeOther(_start_url(request))
    onward: str = waiting[taken.state_digest]
    request.session[ARRIVALS] = {state: url for state, url in waiting.items() if state != taken.state_digest}
    if taken.payload.get("is_let_in"):
        doors.let_in(request)
    if request.place == SHOP:
        _adopt_visitor(request, taken.payload)
        return SeeOther(onward)
    if taken.payload["basket"]:
        adopt_basket(request, taken.payload["basket"])
    if taken.payload["is_signed_in"] and basket_of(request) is None and customer_of(request) is None:
        # The basket belongs to the customer, who must sign in here too.
        return SeeOther(f"{reverse('website:sign_in')}?{urlencode({'next': onward})}")
    return SeeOther(onward)


def _adopt_visitor(request: Request, payload: dict[str, Any]) -> None:
    """On the shop's pages, sign in or out as at the secure place, and adopt its basket."""
    signed_in = customer_of(request)
    customer = customers.customer_of_entry(request.shop, payload["customer"])
    if customer is not None:
        if signed_in is None or signed_in.pk != customer.pk:
            sign_in(request, customer)
        return
    if signed_in is not None:
        sign_out(request)
        messages.success(request, _("You have signed out."))
    if payload["basket"]:
        adopt_basket(request, payload["basket"])


def _start_url(request: Request) -> str:
    return reverse("website:home" if request.place == SHOP else "checkout:checkout")

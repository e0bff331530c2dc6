"""The page that follows a checkout link."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from storefront.carts.models import CheckoutLink
from storefront.carts.session import browser_basket
from storefront.checkout.followed_links import remember_link
from storefront.checkout.link import LinkRefused, followed_link
from storefront.customers.session import customer_of
from storefront.kit.api.http import SeeOther, pop_query_string
from storefront.shops.handover import Purpose, issue_code
from storefront.shops.places import SECURE, SHOP, base_of, page_address
from storefront.shops.private_pages import private_page
from storefront.shops.request import Request
from storefront.staff.doors import let_in

# Path at the secure place to which a link that was followed on the shop's pages redirects; its page is
# `handover_pages.arrive_by_link`.
LINK_ARRIVAL = "/cart/arrive"


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
    return f"{base_of(SECURE, request.shop)}{LINK_ARRIVAL}?{urlencode({'code': code})}"

"""The home page as looks that are not saved make it, for a frame in the admin.

The same templates as shoppers see, with the shop's own data; nobody but its staff gets it, so neither shoppers nor
search engines see a draft. The page is inert, and is made for a visitor without a session.
"""

from copy import copy
from typing import Any

from django.http import HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import get_urlconf, set_urlconf

from storefront.catalogue.media.uploaded import find_uploaded
from storefront.content.models import Looks
from storefront.shops.places import SHOP, SINGLE, urlconf_of
from storefront.shops.spoken import speaking
from storefront.staff import doors
from storefront.website.home import home_context
from storefront.website.versions import DECLINED


def preview(request: Any, looks: Looks) -> HttpResponse:
    """The page with these looks, whose new pictures are named by their tokens."""
    shop = request.shop
    visit = _visit(request, looks)
    before = get_urlconf()
    set_urlconf(visit.urlconf)
    try:
        with speaking(shop, "") as visit.language:
            context = home_context(
                shop, looks, None, now=request.now, language=visit.language, uploads=_uploads(shop, looks)
            )
            content = render_to_string("website/home.html", context, request=visit)
    finally:
        set_urlconf(before)
    request.admin_policy = {"frame-ancestors": "'self'", "script-src": "'self'"}
    return HttpResponse(
        content,
        headers={"X-Frame-Options": "SAMEORIGIN", "X-Robots-Tag": "noindex", "Cache-Control": "no-store"},
    )


def _visit(request: Any, looks: Looks) -> Any:
    """The request of a visitor who has no session and is let in."""
    visit = copy(request)
    visit.GET, visit.POST, visit.COOKIES, visit.session = QueryDict(), QueryDict(), {DECLINED: "yes"}, {}
    visit.method, visit.path, visit.path_info, visit.resolver_match = "GET", "/", "/", None
    visit.place = SINGLE if request.place == SINGLE else SHOP
    visit.urlconf = urlconf_of(visit.place)
    visit.looks, visit.colours_of_preview = looks, request.path
    visit._messages, visit._customer, visit.shown_basket = [], None, None
    doors.let_in(visit)
    return visit


def _uploads(shop: Any, looks: Looks) -> dict[str, str]:
    tokens = [each["picture"] for each in looks.sections if isinstance(each.get("picture"), str)]
    found = {token: find_uploaded(shop, token) for token in tokens if token}
    return {token: str(uploaded.file.name) for token, uploaded in found.items() if uploaded}

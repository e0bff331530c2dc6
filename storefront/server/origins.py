"""Keeps the places of a deployment apart (`shops/places.py`): the place of each request, and the cookies of each place.

Threats. An app's script on the shop's pages must not reach the other places. So each place has its own URL patterns and
answers no other place's pages, and the admin and the secure host refuse a browser's request from another site's page
unless it is a visit in its own window. A sibling host can set cookies for all hosts under their common domain. So over
HTTPS our cookies are called `__Host-...`, which browsers accept only from the host itself. A session of one place is
not valid at another (`server/sessions.py`).
"""

import re
from collections.abc import Callable
from http.cookies import Morsel
from typing import cast
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponsePermanentRedirect
from django.urls import get_script_prefix, set_script_prefix
from django.utils.functional import SimpleLazyObject

from storefront.kit.middleware import Middleware
from storefront.pods.directory import Misdirected
from storefront.server.gate.rejections import MISDIRECTED, POLICY, rejection_page
from storefront.shops import places, queries
from storefront.shops.models import Shop
from storefront.shops.places import ADMIN, SECURE, SHOP, SINGLE
from storefront.shops.request import Request

# The last part of each cookie's name, by Django's name for the cookie.
COOKIES = {
    settings.SESSION_COOKIE_NAME: "session",
    settings.CSRF_COOKIE_NAME: "csrf",
    CookieStorage.cookie_name: "messages",
}
# The first part of the cookies' names, by place.
BEGINNINGS = {SINGLE: "storefront", SHOP: "storefront", ADMIN: "storefront_admin", SECURE: "storefront_secure"}
# Paths that are the same at every place, and that pages of other sites may request.
OPEN = ("/static/", "/media/")
# How long browsers remember that a further domain leads to the shop's own address.
MOVED_SECONDS = 3600


class Places(Middleware):
    """Sets a page request's place, with that place's URL patterns, and its shop: by host, or at the secure host by the
    first segment of the path, which then becomes the script prefix."""

    def __call__(self, request: Request) -> HttpResponse:
        host = request.get_host()
        request.place = places.place_of_host(host)
        request.urlconf = places.urlconf_of(request.place)
        request.misdirected = None
        if request.place == ADMIN:
            # The admin sets the shop that the session works on.
            request.shop = cast(Shop, None)
            return self.get_response(request)
        if request.place == SECURE:
            response = self._at_secure_host(request)
        else:
            request.shop = cast(Shop, SimpleLazyObject(lambda: _shop_here(request, queries.shop_of_host, host)))
            response = self.get_response(request)
        return _misdirected_page(request, response) or response

    def _at_secure_host(self, request: Request) -> HttpResponse:
        domain, slash, rest = request.path_info[1:].partition("/")
        is_shop = slash and domain not in places.RESERVED
        shop = _shop_here(request, queries.shop_here, domain) if is_shop else None
        request.shop = cast(Shop, shop)
        if shop is None:
            request.urlconf = places.urlconf_of("files")
            return self.get_response(request)
        before = get_script_prefix()
        prefix = f"{before}{domain}/"
        request.path_info = request.META["PATH_INFO"] = f"/{rest}"
        request.META["SCRIPT_NAME"] = prefix[:-1]
        set_script_prefix(prefix)
        try:
            return self.get_response(request)
        finally:
            # The prefix is a thread's, and the thread answers other requests after this one.
            set_script_prefix(before)


def _shop_here(request: Request, find: Callable[[str], Shop | None], name: str) -> Shop | None:
    """The shop that is found by this name. All further log lines of the request have its domain. If another pod serves
    it, the request has none, as on an unknown host, and gets another response in the end."""
    try:
        shop = find(name)
    except Misdirected as refusal:
        request.misdirected = refusal
        return None
    if shop is not None:
        structlog.contextvars.bind_contextvars(shop=shop.domain)
    return shop


def _misdirected_page(request: Request, response: HttpResponse) -> HttpResponse | None:
    """The response if another pod serves the shop. A 404 looks for the shop, which nothing has done for a picture."""
    if (response.status_code == 404 and request.shop) or request.misdirected is None:
        return None
    page = HttpResponse(rejection_page(MISDIRECTED), status=421, headers=request.misdirected.headers)
    page["Content-Security-Policy"] = POLICY
    return page


class SameSiteOnly(Middleware):
    """At the admin and the secure host, refuses requests from other sites' pages, such as for a picture, a frame or a
    form. People may still follow a link. Browsers report this in `Sec-Fetch-*` headers, which pages cannot set."""

    def __call__(self, request: Request) -> HttpResponse:
        if request.place in (ADMIN, SECURE) and _is_refused_cross_site(request):
            raise PermissionDenied("This request came from another site, so it was refused.")
        return self.get_response(request)


def _is_refused_cross_site(request: Request) -> bool:
    headers = request.headers
    if headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin") or request.path_info.startswith(OPEN):
        return False
    return request.method not in ("GET", "HEAD") or not places.is_navigation(request)


class FurtherDomains(Middleware):
    """Redirects from the pages of a shop's further domain to the same pages at its own address. Requests to a shop's
    own domain cost nothing for this: only another host is looked up."""

    def __call__(self, request: Request) -> HttpResponse:
        response = self.get_response(request)
        # No page, but the shop may redirect from there (`website/moved.py`).
        if response.status_code == 404 and request.resolver_match is None and not request.path_info.startswith(OPEN):
            return self._at_own_address(request) or response
        return response

    def process_view(self, request: Request, _view: object, _args: object, _kwargs: object) -> HttpResponse | None:
        match = request.resolver_match
        is_page = match is not None and match.namespace in ("website", "checkout")
        return self._at_own_address(request) if is_page else None

    def _at_own_address(self, request: Request) -> HttpResponse | None:
        if request.place not in (SHOP, SINGLE) or request.method not in ("GET", "HEAD"):
            return None
        name = request.get_host().partition(":")[0].lower()
        if request.shop and request.shop.domain == name:
            return None
        shop = queries.shop_of_further_domain(name)
        if shop is None or urlsplit(shop.base_url).hostname == name:
            return None
        moved = HttpResponsePermanentRedirect(shop.base_url + request.get_full_path())
        # Otherwise browsers would go there for ever, also after the domain was given up.
        moved["Cache-Control"] = f"max-age={MOVED_SECONDS}"
        return moved


class PlaceCookies(Middleware):
    """Translates between Django's name of each cookie and the place's own name, and drops the cookies of other
    places."""

    def __call__(self, request: Request) -> HttpResponse:
        names = cookie_names(request.place)
        given = request.COOKIES
        known = {name: value for name, value in given.items() if name not in COOKIES}
        own_ones = {name: given[own] for name, own in names.items() if own in given}
        if request.place == SECURE and settings.SESSION_COOKIE_NAME not in own_ones:
            own_ones = _cookies_of_moved_shop(given) | own_ones
        request.COOKIES = known | own_ones
        response = self.get_response(request)
        for name, own in names.items():
            if name in response.cookies:
                _rename(response, name, own)
        return response


def cookie_names(place: str, pod: int | None = None) -> dict[str, str]:
    """The place's name of each of Django's cookies, by Django's name. `pod` is this one by default."""
    prefix = "__Host-" if settings.HTTPS else ""
    # The secure host is that of all pods, and each has the sessions of its own shops.
    number = settings.POD if pod is None else pod
    of_pod = number if place == SECURE and number else ""
    return {name: f"{prefix}{BEGINNINGS[place]}{of_pod}_{end}" for name, end in COOKIES.items()}


def _cookies_of_moved_shop(given: dict[str, str]) -> dict[str, str]:
    """The cookies that the pod before gave at the secure host, if this pod has their session: it came with a shop that
    has moved (`server/moving/sessions.py`)."""
    form = re.compile(cookie_names(SECURE, 0)[settings.SESSION_COOKIE_NAME].replace("_session", r"(\d{0,4})_session"))
    found = {key: int(match[1] or 0) for name, key in given.items() if (match := form.fullmatch(name))}
    if not found:
        return {}
    key = Session.objects.filter(pk__in=list(found)).values_list("pk", flat=True).first()
    if key is None:
        return {}
    return {name: given[own] for name, own in cookie_names(SECURE, found[key]).items() if own in given}


def _rename(response: HttpResponse, name: str, own: str) -> None:
    morsel: Morsel[str] = response.cookies.pop(name)
    morsel.set(own, morsel.value, morsel.coded_value)
    # Browsers accept a `__Host-` cookie, also its deletion, only with `Secure`.
    morsel["secure"] = bool(settings.HTTPS) or morsel["secure"]
    dict.__setitem__(response.cookies, own, morsel)

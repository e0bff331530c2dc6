"""The places of a deployment, each with an origin of its own, and the URLs of pages at them.

Apps' scripts run on the shop's pages, and browsers isolate origins from each other. So secret pages are on other hosts:
the admin on one; checkout, sign-in, account and orders of all shops on another, the secure host, where the first part
of the path is the shop's domain. A deployment without these hosts has a single place, and apps' scripts do not run.

The host name decides once which place a request is at (`server/origins.py`). A page exists at one place only: each
place has URL patterns of its own.
"""

from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, get_resolver, get_script_prefix, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from storefront.shops.models import Shop
from storefront.shops.request import Request
from storefront.shops.spoken import path_of_language

SINGLE, ADMIN, SECURE, SHOP = "single", "admin", "secure", "shop"
# First path segments that the secure host uses itself, so a shop's domain cannot be one of them.
RESERVED = ("static", "media", "api", "robots.txt", "favicon.ico", ".well-known")
# Path at which visitors arrive from the shop's other place (`checkout/handover_pages.py`).
ARRIVAL = "/arrive"
# Session key of the pages to which handovers lead.
ARRIVALS = "arrivals"
MAX_PATH_LENGTH = 2000


def hosts_are_separate() -> bool:
    """Returns True if admin and secure pages have hosts of their own."""
    return bool(settings.ADMIN_HOST)


def place_of_host(host: str) -> str:
    """The place of a `Host` header. The port is ignored, as cookies ignore it."""
    if not hosts_are_separate():
        return SINGLE
    name = _name(host)
    if name == _name(settings.ADMIN_HOST):
        return ADMIN
    return SECURE if name == _name(settings.SECURE_HOST) else SHOP


def is_reserved(host: str) -> bool:
    """Returns True if a shop cannot have this host: it is the admin's, the secure one, or a reserved path segment
    there."""
    return place_of_host(host) in (ADMIN, SECURE) or _name(host) in RESERVED


def reserved_message(host: str) -> str:
    return _("%(host)s cannot be a shop's domain, because this deployment uses it itself.") % {"host": host}


def base_of(place: str, shop: Shop) -> str:
    """The base URL of the shop's pages at this place, without a slash at the end."""
    if place == ADMIN:
        return origin_at(settings.ADMIN_HOST)
    if place == SECURE:
        return f"{origin_at(settings.SECURE_HOST)}/{shop.domain}"
    return shop.base_url


def secure_base(shop: Shop) -> str:
    """The base URL of the shop's checkout, account and order pages."""
    return base_of(SECURE if hosts_are_separate() else SINGLE, shop)


def origin_of(url: str) -> str:
    """The origin of an absolute URL, in the form that browsers send and policies contain."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def spoken_base(place: str, shop: Shop, language: str | None = None) -> str:
    """The base URL of the shop's pages at this place in a language: by default the one that is spoken
    (`shops/spoken.py`)."""
    return base_of(place, shop) + ("" if place == ADMIN else path_of_language(shop, language))


def in_spoken_language(url: str, base: str, shop: Shop) -> str:
    """The URL of a page below this base URL, in the language that is spoken. A signature of the URL is of the one
    without a language, so that its page can be opened in each."""
    return base + path_of_language(shop) + url.removeprefix(base)


def page_address(name: str, *args: Any, shop: Shop, language: str | None = None, **query: str) -> str:
    """The absolute URL of a page, for mails and the admin. It is built from settings, not from a request, so that a
    forged `Host` cannot get into a mail. The page is in the language that is spoken, unless `language` is given."""
    place = _place_of_page(name)
    return spoken_base(place, shop, language) + _path(place, name, args) + (f"?{urlencode(query)}" if query else "")


def page_url(request: HttpRequest, name: str, *args: Any, plain: bool = False) -> str:
    """The URL of a page for a link or redirect in the response to this request: a path if the page is at the same
    place, an absolute URL otherwise. Between the shop's pages and its secure pages, the URL takes the visitor's basket
    along, unless it is `plain`, as for a form."""
    here: str = getattr(request, "place", SINGLE)
    there, shop = _place_of_page(name), getattr(request, "shop", None)
    if here == there or not hosts_are_separate():
        return reverse(name, args=args)
    if not shop:
        # An error page without a shop.
        return "/"
    path, is_between = _path(there, name, args), {here, there} == {SHOP, SECURE}
    return arrival_url(there, shop, path) if is_between and not plain else spoken_base(there, shop) + path


def arrival_url(place: str, shop: Shop, path: str) -> str:
    """The URL that leads to this path at the shop's other place and takes the visitor's basket along. The page is in
    the language that the path begins with, by default in the one that is spoken."""
    code, slash, rest = path[1:].partition("/")
    base = spoken_base(place, shop)
    if slash and code in shop.further_languages:
        base, path = spoken_base(place, shop, code), f"/{rest}"
    return f"{base}{ARRIVAL}?{urlencode({'next': path}, safe='/')}"


def url_via_shop(request: Request, path: str) -> str:
    """The URL for a redirect from one secure page to another by way of the shop's pages, which thereby learn who is
    signed in. Elsewhere the path itself."""
    own = root_of(request.shop)
    if request.place != SECURE or not path.startswith(own):
        return path
    return f"{spoken_base(SHOP, request.shop)}{ARRIVAL}?{urlencode({'back': '/' + path.removeprefix(own)}, safe='/')}"


def root_of(shop: Shop) -> str:
    """The path below which all pages of the shop are at the current request's place, in each language; with a slash at
    its end."""
    return get_script_prefix().removesuffix(f"{path_of_language(shop)}/".removeprefix("/"))


def local_path(text: str | None) -> str | None:
    """The text if it is a path on the same host, for redirect parameters; None otherwise."""
    if not text or not text.startswith("/") or len(text) > MAX_PATH_LENGTH:
        return None
    return text if url_has_allowed_host_and_scheme(text, allowed_hosts=None) else None


def is_navigation(request: HttpRequest) -> bool:
    """Returns False if the Sec-Fetch headers show that no person opens the page in a window. Browsers without these
    headers are accepted."""
    given = request.headers.get("Sec-Fetch-Mode", "navigate"), request.headers.get("Sec-Fetch-Dest", "document")
    return given == ("navigate", "document")


def urlconf_of(place: str) -> str:
    return settings.PLACE_URLCONFS.get(place) or settings.ROOT_URLCONF


def _path(place: str, name: str, args: tuple[Any, ...]) -> str:
    """The page's path at this place, without the prefix of the current request's place, which Django adds."""
    return reverse(name, urlconf=urlconf_of(place), args=args).removeprefix(get_script_prefix()[:-1])


def _place_of_page(name: str) -> str:
    return _only_place_of(name) if hosts_are_separate() else SINGLE


@cache
def _only_place_of(name: str) -> str:
    namespace, _, page = name.partition(":")
    for place in (SHOP, SECURE, ADMIN):
        _, found = get_resolver(urlconf_of(place)).namespace_dict.get(namespace, ("", None))
        if found and page in found.reverse_dict:
            return place
    raise NoReverseMatch(f"No place has a page named {name}.")


def _name(host: str) -> str:
    return host.partition(":")[0].lower()


def origin_at(host: str) -> str:
    """The origin of a host of the deployment, such as that of the admin."""
    return f"{'https' if settings.HTTPS else 'http'}://{host}"

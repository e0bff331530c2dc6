"""Permanent redirects from addresses at which a shop has no page."""

from urllib.parse import unquote, urlsplit

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse

from storefront.content import missing
from storefront.content.addresses import is_ours, normal_path, path_in, with_query
from storefront.content.queries import redirect_target
from storefront.shops.places import SHOP, SINGLE, is_navigation, root_of
from storefront.shops.request import Request
from storefront.shops.spoken import path_of_language
from storefront.staff import doors
from storefront.website.old_shops import present_path
from storefront.website.versions import own_link

# Our pages for what a merchant has. Other pages of ours can have secrets in their addresses.
_OPEN_PAGES = ("website:product", "website:category", "website:page")

# Redirects from pages that are gone that a shopper is led along at once.
MAX_STEPS = 5


class NoSuchPage(Http404):
    """A page of a list that has fewer. The list itself exists, so nothing else is looked for at its address."""


def lead_on(request: Request, page: str, slug: str) -> HttpResponse:
    """A redirect (301) to a page of the shop, with the request's query string."""
    return redirect_to(request, reverse(page, args=[slug]))


def redirect_to(request: HttpRequest, address: str) -> HttpResponse:
    """A redirect (301) to a path or an absolute URL, with the request's query string."""
    moved = HttpResponsePermanentRedirect(with_query(address, request.META.get("QUERY_STRING", "")))
    # Browsers keep it, but ask again each time: something else can get the old address.
    moved["Cache-Control"] = "no-cache"
    return moved


def instead_of_missing(request: Request) -> HttpResponse | None:
    """The redirect for an address at which the shop has no page: the merchant's own, or that of another shop program's
    address. Counts the request if there is neither."""
    if request.method not in ("GET", "HEAD") or not _is_shops(request) or not doors.is_let_in(request):
        return None
    whole = path_of_language(request.shop) + request.path_info
    address = _redirect_from(request, normal_path(whole))
    if address is not None:
        address = _led_on(request, address)
    else:
        address = _in_language(request) or present_path(request, request.path_info)
    if address is not None:
        return redirect_to(request, address)
    if is_navigation(request):
        missing.count(request.shop.pk, request.path_info)
    return None


def _redirect_from(request: Request, path: str) -> str | None:
    return None if is_ours(path) else redirect_target(request.shop, path)


def _in_language(request: Request) -> str | None:
    """For an address in a further language: where the merchant's redirect from it in the main language leads, in that
    language. None if it names a language but no page, or goes on from there: they could lead to each other."""
    language = path_of_language(request.shop)
    target = _redirect_from(request, normal_path(request.path_info)) if language else None
    if target is None:
        return None
    address = _led_on(request, target)
    path = path_in(address)
    if path is None:
        return address
    if path.startswith(f"{language}/"):
        return address if present_path(request, path.removeprefix(language)) else None
    if path[1:].partition("/")[0] in request.shop.further_languages:
        return None
    address = own_link(request.shop, address)
    return None if _redirect_from(request, path_in(address) or "") else address


def _led_on(request: Request, address: str) -> str:
    """Where a redirect's target leads in the end: it can be an old address itself, or that of a page that is gone."""
    for _ in range(MAX_STEPS):
        path, parts = path_in(address), urlsplit(address)
        if path is None:
            break
        place = present_path(request, unquote(parts.path))
        onward = place or _redirect_from(request, path)
        if onward is None or onward == parts.path:
            break
        address = with_query(onward, parts.query)
        if parts.fragment and "#" not in address:
            address += f"#{parts.fragment}"
        if place:
            break
    return address


def _is_shops(request: Request) -> bool:
    """Returns True at the shop's own host, unless the address is that of another page of ours."""
    if getattr(request, "place", None) not in (SHOP, SINGLE) or not request.shop or root_of(request.shop) != "/":
        return False
    match = request.resolver_match
    return match is None or match.view_name in _OPEN_PAGES

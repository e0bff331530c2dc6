"""Permanent redirects from an address that something had to the one that it has now."""

from django.http import HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse

from storefront.shops.request import Request


def lead_on(request: Request, page: str, slug: str) -> HttpResponse:
    """A redirect (301) to a page of the shop, with the request's query string."""
    return redirect_to(request, reverse(page, args=[slug]))


def redirect_to(request: Request, address: str) -> HttpResponse:
    """A redirect (301) to a path or an absolute URL. The request's query string is added to that of the address, if it
    has one, and goes before its fragment."""
    address, hash, fragment = address.partition("#")
    query = request.META.get("QUERY_STRING", "")
    if query:
        address += ("&" if "?" in address else "?") + query
    moved = HttpResponsePermanentRedirect(address + hash + fragment)
    # Browsers keep it, but ask again each time: something else can get the old address.
    moved["Cache-Control"] = "no-cache"
    return moved

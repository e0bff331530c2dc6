"""Pages that show one shopper's own data."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase

from storefront.shops.request import Request

Page = Callable[..., Any]


def private_page(page: Page) -> Page:
    """Decorates a page of one shopper: no cache stores its response, and the browser sends its URL to no other site.

    Raises Http404 where the host name means no shop.
    """

    @wraps(page)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.shop:
            raise Http404
        response = page(request, *args, **kwargs)
        response["Referrer-Policy"] = "no-referrer"
        response["Cache-Control"] = "no-store"
        return response

    return guarded

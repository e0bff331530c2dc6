"""Error pages. The page for internal errors works without the database."""

import sys
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.kit.database_errors import RETRY_AFTER_SECONDS, is_unavailable
from storefront.pods.moves import has_moved_meanwhile
from storefront.pods.registry import is_refused, where
from storefront.shops.request import Request
from storefront.website.moved import NoSuchPage, instead_of_missing

TITLES = {
    400: gettext_lazy("Invalid request"),
    403: gettext_lazy("Access denied"),
    404: gettext_lazy("Not found"),
    410: gettext_lazy("This shop is closed"),
    500: gettext_lazy("Something went wrong"),
    503: gettext_lazy("Back in a moment"),
}
AWAY = gettext_lazy(
    "The shop is temporarily unavailable. Nothing was changed, and your basket is safe. Please try again in a moment."
)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 400, _("The request could not be read. Please go back and try again."))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403, _shopper_message(exception) or _("You do not have permission to see this page."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    moved = None if isinstance(exception, NoSuchPage) else instead_of_missing(cast(Request, request))
    sentence = _shopper_message(exception) or _("This page does not exist. It may have been moved or deleted.")
    return moved or _page(request, 404, sentence)


def closed(request: HttpRequest) -> HttpResponse:
    """The page of a shop that the operator has closed."""
    sentence = _("It takes no orders. If you have ordered here, the links in your emails still work.")
    return _page(request, 410, sentence)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    sentence = _("This form has expired, or cookies are turned off. Go back, reload the page and try again.")
    return _page(request, 403, sentence)


def server_error(request: HttpRequest) -> HttpResponse:
    """A 503 with Retry-After while the database cannot be used or the shop moves, as in the API (R-ERR-12). The page
    uses neither the database nor the session, since they may be the cause of the error."""
    error = sys.exc_info()[1]
    if is_refused(error):
        return HttpResponse(f"{where()} Nothing was changed.", status=409, content_type="text/plain")
    is_away = is_unavailable(error) or has_moved_meanwhile(request)
    status = 503 if is_away else 500
    sorry = _("Sorry, there is a problem on our side. Your basket is safe. Please try again later.")
    sentence = AWAY if is_away else sorry
    context = {"id": getattr(request, "id", ""), "status": status, "heading": TITLES[status], "sentence": sentence}
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if is_away else {}
    return HttpResponse(render_to_string("website/500.html", context), status=status, headers=headers)


def _page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    context = {"status": status, "heading": TITLES[status], "sentence": sentence, "noindex": True}
    return render(request, "website/error.html", context, status=status)


def _shopper_message(exception: Exception | None) -> str:
    """The message of the exception if it is from this service; empty for Django's own, which are not for shoppers."""
    text = exception.args[0] if exception and exception.args else ""
    return text if isinstance(text, str) and text.endswith(".") else ""

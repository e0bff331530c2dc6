"""Error pages. The page for internal errors works without the database."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

TITLES = {400: "Invalid request", 403: "Access denied", 404: "Not found", 500: "Something went wrong"}


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 400, "The request could not be read. Please go back and try again.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403, _shopper_message(exception) or "You do not have permission to see this page.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(
        request, 404, _shopper_message(exception) or "This page does not exist. It may have been moved or deleted."
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(
        request, 403, "This form has expired, or cookies are turned off. Go back, reload the page and try again."
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Uses neither the database nor the session, since they may be the cause of the error."""
    return HttpResponse(render_to_string("website/500.html", {"id": getattr(request, "id", "")}), status=500)


def _page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    context = {"status": status, "heading": TITLES[status], "sentence": sentence, "noindex": True}
    return render(request, "website/error.html", context, status=status)


def _shopper_message(exception: Exception | None) -> str:
    """The message of the exception if it is a sentence of ours; empty for Django's own, which are not for shoppers."""
    text = exception.args[0] if exception and exception.args else ""
    return text if isinstance(text, str) and text.endswith(".") else ""

"""Error pages. None of them needs the database more than it must, and the one for defects does not need it at all."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

TITLES = {400: "That did not work", 403: "This is not allowed", 404: "Not found", 500: "Something went wrong"}


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 400, "The request could not be read. Please go back and try again.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403, _words(exception) or "You may not see this page.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 404, _words(exception) or "There is no such page here. It may have moved, or never been.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(
        request, 403, "This form is too old, or cookies are switched off. Please go back, reload and try again."
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """What failed may be the database or the session, so nothing of them is touched."""
    return HttpResponse(render_to_string("website/500.html", {"id": getattr(request, "id", "")}), status=500)


def _page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    context = {"status": status, "heading": TITLES[status], "sentence": sentence, "noindex": True}
    return render(request, "website/error.html", context, status=status)


def _words(exception: Exception | None) -> str:
    """The sentence that a page of ours raised the error with; Django's own are not for shoppers."""
    text = exception.args[0] if exception and exception.args else ""
    return text if isinstance(text, str) and text.endswith(".") else ""

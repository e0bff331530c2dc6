"""JSON responses, encoded once, by orjson; redirects; and URLs that hold a secret."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

JSON = "application/json"


def json_response(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """A response with this body as UTF-8 JSON. Members keep their order."""
    return HttpResponse(orjson.dumps(body), status=status, content_type=JSON, headers=headers)


class SeeOther(HttpResponseRedirect):
    """A redirect that the browser follows with GET, whatever the method of this request was (303)."""

    status_code = 303


def posted_from(page: str) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Decorator of views that take a form's POST. A GET is redirected to the page with the form, given by name, since
    people reload, and come back by their browser's history."""

    def decorator(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            return SeeOther(reverse(page)) if request.method in ("GET", "HEAD") else accepting(request, *args, **kwargs)

        accepting = require_POST(view)
        return answer

    return decorator


def pop_query_string(request: HttpRequest) -> str:
    """Remove the query string from the request and return it, so that no log or error report shows it later."""
    query = request.META.get("QUERY_STRING", "")
    request.META["QUERY_STRING"] = ""
    for name in ("REQUEST_URI", "RAW_URI"):
        if name in request.META:
            request.META[name] = request.META[name].partition("?")[0]
    request.GET = QueryDict()
    return query

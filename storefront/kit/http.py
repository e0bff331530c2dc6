"""JSON responses, encoded once, by orjson; redirects; and URLs that hold a secret."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict

JSON = "application/json"


def json_response(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """A response with this body as UTF-8 JSON. Members keep their order."""
    return HttpResponse(orjson.dumps(body), status=status, content_type=JSON, headers=headers)


class SeeOther(HttpResponseRedirect):
    """A redirect that the browser follows with GET, whatever the method of this request was."""

    status_code = 303


def pop_query_string(request: HttpRequest) -> str:
    """Remove the query string from the request and return it, so that no log or error report shows it later."""
    query = request.META.get("QUERY_STRING", "")
    request.META["QUERY_STRING"] = ""
    for name in ("REQUEST_URI", "RAW_URI"):
        if name in request.META:
            request.META[name] = request.META[name].partition("?")[0]
    request.GET = QueryDict()
    return query

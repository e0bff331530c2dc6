"""JSON answers, encoded once, by orjson."""

from typing import Any

import orjson
from django.http import HttpResponse

from storefront.kit.refusals import Refusal

JSON = "application/json"


def json_response(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """The body as UTF-8 JSON. Members keep their order."""
    return HttpResponse(orjson.dumps(body), status=status, content_type=JSON, headers=headers)


def refusal_response(refusal: Refusal) -> HttpResponse:
    """A refusal as the API says it (decisions: Error bodies)."""
    return json_response(refusal.body(), status=refusal.status, headers=refusal.headers)

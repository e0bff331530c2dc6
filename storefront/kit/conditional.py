"""Conditional requests: responses with an ETag, and 304 (R-CAT-38)."""

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags

from storefront.kit.http import JSON

CACHE_CONTROL = "private, max-age=0, must-revalidate"


def etag_of(content: bytes) -> str:
    """A strong ETag: equal only for equal bytes."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def gzip_etag(etag: str) -> str:
    """The ETag of the same content sent as gzip: other bytes on the wire need another strong ETag."""
    return f'{etag[:-1]}-gzip"'


def etag_matches(etag: str, if_none_match: str) -> bool:
    """Whether the If-None-Match header lists this ETag. `W/` is ignored (RFC 9110, 13.1.2)."""
    return any(known in ("*", etag) for known in (each.removeprefix("W/") for each in parse_etags(if_none_match)))


class Revalidated(HttpResponse):
    """A response that the edge can cache. `representation` is the whole content, also of a 304 or a response to HEAD.
    `caller` is the authenticated caller; the API's frame sets it."""

    representation: bytes
    caller: Any


def revalidated_response(request: HttpRequest, body: str) -> Revalidated:
    """A response with this JSON body and its ETag, or a 304 without a body if the caller has it already."""
    content = body.encode()
    headers = {"ETag": etag_of(content), "Cache-Control": CACHE_CONTROL}
    if_none_match = request.headers.get("If-None-Match")
    if if_none_match is not None and etag_matches(headers["ETag"], if_none_match):
        response = Revalidated(status=304, headers=headers)
        del response["Content-Type"]
    else:
        response = Revalidated(content, content_type=JSON, headers=headers)
    response.representation = content
    return response

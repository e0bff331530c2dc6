"""Answers that a caller may keep and ask about again (decisions: Conditional reads)."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags

from storefront.kit.http import JSON

CACHE_CONTROL = "private, max-age=0, must-revalidate"


def etag_of(content: bytes) -> str:
    """A strong ETag: the same for the same bytes only."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def gzip_etag(etag: str) -> str:
    """The ETag of the same bytes sent as gzip: other bytes on the wire, so another strong ETag."""
    return f'{etag[:-1]}-gzip"'


def is_known(etag: str, if_none_match: str) -> bool:
    """Whether the header's list names this ETag; `W/` does not matter here (RFC 9110, 13.1.2)."""
    return any(known in ("*", etag) for known in (each.removeprefix("W/") for each in parse_etags(if_none_match)))


def revalidated_response(request: HttpRequest, body: str) -> HttpResponse:
    """The body, which is JSON, with its ETag, or a 304 without body if the caller has it already."""
    content = body.encode()
    # For the edge: the whole of it, also where the answer is a 304 or one to HEAD.
    request.representation = content  # type: ignore[attr-defined]
    headers = {"ETag": etag_of(content), "Cache-Control": CACHE_CONTROL}
    if_none_match = request.headers.get("If-None-Match")
    if if_none_match is not None and is_known(headers["ETag"], if_none_match):
        response = HttpResponse(status=304, headers=headers)
        del response["Content-Type"]
        return response
    return HttpResponse(content, content_type=JSON, headers=headers)

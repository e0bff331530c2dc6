"""Conditional requests: responses with an ETag, 304 (R-CAT-38), and writes with `If-Match` (R-CALL-30)."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags

from storefront.kit.api.http import JSON, json_response
from storefront.kit.refusals import Refusal

CACHE_CONTROL = "private, max-age=0, must-revalidate"


class PreconditionFailed(Refusal):
    status, code = 412, "precondition_failed"
    message = "The record has changed since it was read. Read it again, and repeat the change with its new ETag."


def etag_of(content: bytes) -> str:
    """A strong ETag: equal only for equal bytes."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def gzip_etag(etag: str) -> str:
    """The ETag of the same content sent as gzip: other bytes on the wire need another strong ETag."""
    return f'{etag[:-1]}-gzip"'


def etag_matches(etag: str, if_none_match: str) -> bool:
    """Returns True if the If-None-Match header lists this ETag. Ignores `W/` (RFC 9110, 13.1.2)."""
    return any(known in ("*", etag) for known in (each.removeprefix("W/") for each in parse_etags(if_none_match)))


def known_etag(request: HttpRequest, etag: str) -> str | None:
    """The caller's matching ETag: this one, or that of the compressed record, if `If-None-Match` lists it."""
    known = request.META.get("HTTP_IF_NONE_MATCH", "")
    return next((each for each in (etag, gzip_etag(etag)) if etag_matches(each, known)), None)


def has_if_match(request: HttpRequest) -> bool:
    """Returns True if the request has an `If-Match` header."""
    return "HTTP_IF_MATCH" in request.META


def require_match(request: HttpRequest, etag: str) -> None:
    """Refuse the write unless the `If-Match` header, if there is one, lists this ETag of the record as it is now. Call
    it after the record was locked. An ETag of the compressed record counts too. Raises PreconditionFailed."""
    listed = request.META.get("HTTP_IF_MATCH")
    if listed is not None and not {"*", etag, gzip_etag(etag)} & set(parse_etags(listed)):
        raise PreconditionFailed


@contextmanager
def only_if_match(request: HttpRequest, read: Callable[[], Any], *rows: QuerySet[Any]) -> Iterator[None]:
    """Runs a write only if the record has the ETag in the `If-Match` header, if there is one: locks these rows, and
    compares with the ETag of the body that `read` returns. `rows` are all rows that others write without a lock on the
    record's own row, in their locking order. Raises PreconditionFailed."""
    if not has_if_match(request):
        yield
        return
    with transaction.atomic():
        for each in rows:
            list(each.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        require_match(request, etag_of(json_response(read()).content))
        yield


def record_response(request: HttpRequest, body: Any, *, status: int = 200) -> HttpResponse:
    """A response with one record and its ETag. A read is a 304 if the caller has the record already."""
    response = json_response(body, status=status)
    etag = response["ETag"] = etag_of(response.content)
    if request.method == "GET" and (known := known_etag(request, etag)):
        response = HttpResponse(status=304, headers={"ETag": known})
        del response["Content-Type"]
    return response


class Revalidated(HttpResponse):
    """A response that the edge can cache. `representation` is the whole content, also of a 304 or a response to HEAD.
    It is valid until the moment `until`, unless somebody writes; None: for ever. `caller` is the authenticated caller;
    the API's frame sets it."""

    representation: bytes
    until: datetime | None
    caller: Any


def revalidated_response(
    request: HttpRequest, body: str, *, until: datetime | None, headers: Mapping[str, str] | None = None
) -> Revalidated:
    """A response with this JSON body and its ETag, or a 304 without a body if the caller has it already. A date changes
    the body at the moment `until`. `headers`: those of the language of the body, which has an ETag of its own in
    each."""
    content, language = body.encode(), (headers or {}).get("Content-Language", "")
    etag = etag_of(content + b"\0" + language.encode()) if language else etag_of(content)
    headers = {"ETag": etag, "Cache-Control": CACHE_CONTROL, **(headers or {})}
    if_none_match = request.headers.get("If-None-Match")
    if if_none_match is not None and etag_matches(headers["ETag"], if_none_match):
        response = Revalidated(status=304, headers=headers)
        del response["Content-Type"]
    else:
        response = Revalidated(content, content_type=JSON, headers=headers)
    response.representation, response.until = content, until
    return response

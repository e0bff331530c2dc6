"""Reading what a call carries: its JSON body and its query, or saying in which way they cannot be read."""

from typing import Any

import orjson
from django.conf import settings
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from storefront.kit.http import JSON
from storefront.kit.refusals import InvalidFields, Refusal


class BadRequest(Refusal):
    status, code, message = 400, "bad_request", "The request could not be read."


class MalformedJson(Refusal):
    status, code, message = 400, "malformed_json", "The body is not valid JSON."


class TooLarge(Refusal):
    status, code, message = 413, "too_large", "The body is larger than 1 MiB."


class WrongMediaType(Refusal):
    status, code, message = 415, "unsupported_media_type", "Send the body as application/json, in UTF-8."


def bound(request: HttpRequest) -> None:
    """Let `request.body` be read at most a byte further than is allowed, whether or not its length was announced.

    Django takes a body without Content-Length for none at all, which is not what a chunked one is.
    """
    length = request.META.get("CONTENT_LENGTH")
    if length:
        if not (length.isascii() and length.isdigit()):
            raise BadRequest
        # Also where nobody reads the body; and Python itself reads no number of thousands of digits.
        if len(length) > 20 or int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge
    elif "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        request._stream = LimitedStream(request.META["wsgi.input"], limit + 1)  # type: ignore[assignment]


class JsonBody(Parser):
    """Ninja's parser of bodies and queries, strict where a database or a program behind us would stumble."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        charset = (request.content_params or {}).get("charset", "utf-8").lower()
        if request.content_type != JSON or charset not in ("utf-8", "utf8"):
            raise WrongMediaType
        raw = request.body
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError:
            raise MalformedJson from None
        if not isinstance(body, dict):
            raise MalformedJson("The body must be a JSON object.")
        if b"\\u0000" in raw:
            _refuse_nul(body)
        return body

    def parse_querydict(self, data: MultiValueDict, list_fields: list[str], request: HttpRequest) -> dict[str, Any]:
        given = super().parse_querydict(data, list_fields, request)
        if "%00" in request.META.get("QUERY_STRING", ""):
            _refuse_nul(given)
        return given


def _refuse_nul(given: dict[str, Any]) -> None:
    """PostgreSQL's text has no NUL character, so that no field of ours can."""
    errors = {name: [f"{name} must not contain the NUL character."] for name, value in given.items() if _has_nul(value)}
    if errors:
        raise InvalidFields(errors=errors)


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, list):
        return any(map(_has_nul, value))
    if isinstance(value, dict):
        return any(_has_nul(part) for pair in value.items() for part in pair)
    return False

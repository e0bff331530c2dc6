"""Reads the JSON body and the query of a call, or refuses them (R-ERR-2, R-ERR-7, R-LIM-1)."""

import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson
from django.conf import settings
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from storefront.kit.api.http import JSON
from storefront.kit.refusals import InvalidFields, Refusal, problem


class BadRequest(Refusal):
    status, code, message = 400, "bad_request", "The request could not be read."


class MalformedJson(Refusal):
    status, code, message = 400, "malformed_json", "The request body is not valid JSON."


class TooLarge(Refusal):
    status, code, message = 413, "too_large", "The request body is larger than 1 MiB."


class WrongMediaType(Refusal):
    status, code, message = 415, "unsupported_media_type", "Send the request body as application/json in UTF-8."


def limit_body(request: HttpRequest) -> None:
    """Make `request.body` stop one byte after the allowed size, with or without a Content-Length.

    Without Content-Length, Django reads no body at all; a chunked one is read here too. Raises BadRequest for a
    Content-Length that is not a number, and TooLarge.
    """
    length = request.META.get("CONTENT_LENGTH")
    if length:
        if not (length.isascii() and length.isdigit()):
            raise BadRequest
        # Also if no handler reads the body. `int` refuses numbers of thousands of digits, hence the first check.
        if len(length) > 20 or int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge
    elif "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        request._stream = LimitedStream(request.META["wsgi.input"], limit + 1)  # type: ignore[assignment]


class JsonBody(Parser):
    """Ninja's parser of bodies and queries. Also refuses NUL characters, which PostgreSQL does not store."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        charset = (request.content_params or {}).get("charset", "utf-8").lower()
        if request.content_type != JSON or charset not in ("utf-8", "utf8"):
            raise WrongMediaType
        raw = request.body
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise _refusal_of(raw, error) from None
        if not isinstance(body, dict):
            raise MalformedJson("The request body must be a JSON object.")
        request.given = body  # type: ignore[attr-defined]
        if b"\\u0000" in raw:
            _refuse_nul_characters(body)
        return body

    def parse_querydict(self, data: MultiValueDict, list_fields: list[str], request: HttpRequest) -> dict[str, Any]:
        given = super().parse_querydict(data, list_fields, request)
        if "%00" in request.META.get("QUERY_STRING", ""):
            # Cursors are never stored or compared by the database, and have a refusal of their own.
            _refuse_nul_characters({name: value for name, value in given.items() if name != "after"})
        return given


def _refusal_of(raw: bytes, error: orjson.JSONDecodeError) -> Refusal:
    """The refusal of JSON that cannot be read: the position of the error, or the members with an infinite number."""
    if error.msg.startswith("number is infinity"):
        with suppress(ValueError, RecursionError, AttributeError):
            given = json.loads(raw.decode(), parse_int=_number, parse_float=_number, parse_constant=_refuse_constant)
            names = [name for name, value in given.items() if _contains(value, lambda each: each is _ENDLESS)]
            names = [name.encode().decode() for name in names]
            return InvalidFields(problems=[problem(name, "too_large", f"{name} is too large.") for name in names])
    where = f"line {error.lineno}, column {error.colno}"
    message = f"The request body is not valid JSON: {error.msg} at {where}."
    return MalformedJson(message, line=error.lineno, column=error.colno)


# Placeholder for a number that no double can hold.
_ENDLESS = object()


def _number(text: str) -> Any:
    return _ENDLESS if math.isinf(float(text)) else 0


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _refuse_nul_characters(given: dict[str, Any]) -> None:
    """Raises InvalidFields with the top-level fields that contain one."""
    names = [name for name, value in given.items() if _contains(value, _has_nul_character)]
    if names:
        raise InvalidFields(
            problems=[problem(name, "nul_character", f"{name} must not contain the NUL character.") for name in names]
        )


def _has_nul_character(value: Any) -> bool:
    return isinstance(value, str) and "\0" in value


def _contains(value: Any, is_meant: Callable[[Any], bool]) -> bool:
    """Returns True if `is_meant` holds for a value of a JSON document, for any value inside it, or for a member's
    name."""
    if isinstance(value, list):
        return any(_contains(each, is_meant) for each in value)
    if isinstance(value, dict):
        return any(_contains(each, is_meant) for pair in value.items() for each in pair)
    return is_meant(value)

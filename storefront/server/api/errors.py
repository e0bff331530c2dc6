"""Renders every error of the API (R-ERR-1)."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from django.urls import Resolver404, resolve
from ninja.errors import HttpError, ValidationError

from storefront.kit import metrics
from storefront.kit.api.http import json_response
from storefront.kit.database_errors import RETRY_AFTER_SECONDS, is_unavailable
from storefront.kit.refusals import InvalidFields, NotFound, Problem, Refusal, problem
from storefront.pods.moves import has_moved_meanwhile
from storefront.server.api.body import BadRequest, TooLarge
from storefront.server.api.wording import expectation, reason
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

# The path of the page that explains every code.
DOCS = "/api/docs/errors"
_VERSION = re.compile(r"^/api/(?:v[0-9]+(?:\.[0-9]+)*/)?")


class MethodNotAllowed(Refusal):
    """`allow` is the value of the Allow header (R-ERR-6)."""

    status, code, message = 405, "method_not_allowed", "This method is not allowed here."

    def __init__(self, allow: str) -> None:
        super().__init__(f"This method is not allowed here. Allowed: {allow}.")
        self.allow = allow

    @property
    def headers(self) -> dict[str, str]:
        return {"Allow": self.allow}


def error_response(
    request: Request, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> HttpResponse:
    """An error's response: the body with the address of its explanation and the request's id (R-ERR-1)."""
    return json_response(described_error(body, request.id), status=status, headers=headers)


def described_error(body: dict[str, Any], request_id: str) -> dict[str, Any]:
    """An error's body with the address of its explanation and the request's id."""
    return body | {"doc_url": f"{DOCS}#{body['code']}", "request_id": request_id}


def refusal(request: Request, error: Refusal) -> HttpResponse:
    metrics.REFUSALS.labels(error.code).inc()
    return error_response(request, error.status, error.body(), error.headers)


def not_found(request: Request, error: Exception) -> HttpResponse:
    return refusal(request, NotFound())


def no_such_path(request: Request, error: Exception) -> HttpResponse:
    """A 404 for an unknown path, which suggests a similar path that exists (R-ERR-5)."""
    meant = _similar_path(request.path_info)
    return refusal(request, NotFound(f"Not found. Did you mean {meant}?" if meant else None))


def _similar_path(path: str) -> str | None:
    """The path without a slash at its end, or with the version of the public API, if that exists."""
    bare = path[:200].rstrip("/")
    for meant in (bare, _VERSION.sub("/api/v1/", bare)):
        with suppress(Resolver404):
            resolve(meant)
            return meant
    return None


def too_large(request: Request, error: Exception) -> HttpResponse:
    return refusal(request, TooLarge())


def bad_request(request: Request, error: Exception) -> HttpResponse:
    """Django refused to read the request, or the caller disconnected while sending it."""
    return refusal(request, BadRequest())


def http_error(request: Request, error: HttpError) -> HttpResponse:
    """Ninja wraps the refusals of our parser in its own error."""
    cause = error.__cause__
    return refusal(request, cause if isinstance(cause, Refusal) else BadRequest())


def invalid_fields(request: Request, error: ValidationError) -> HttpResponse:
    """Each invalid field by its name, with what was expected of it."""
    return refusal(request, InvalidFields(problems=[_problem(each) for each in error.errors]))


def _problem(invalid: dict[str, Any]) -> Problem:
    field = _field(invalid["loc"])
    code, help = reason(invalid)
    return problem(field, code, expectation(field, invalid), **help)


def _field(location: tuple[Any, ...]) -> str:
    """The field's name for the caller: `("body", "body", "options", "5")` becomes `options.5`. The source and the name
    of the handler's parameter are left out."""
    source, *path = location
    if source != "body":
        return str(path[-1])
    return ".".join(map(str, path[1:])) or "body"


def unavailable(request: Request, error: Exception) -> HttpResponse:
    """A 503 with Retry-After while the database cannot be used or the shop moves (R-ERR-12), else an internal error."""
    if not is_unavailable(error) and not has_moved_meanwhile(request):
        return internal_error(request, error)
    log.error("database_away", request_id=request.id, exc_info=error)
    body = {"message": "The shop is temporarily unavailable. Please try again.", "code": "unavailable"}
    return error_response(request, 503, body, {"Retry-After": str(RETRY_AFTER_SECONDS)})


def internal_error(request: Request, error: Exception) -> HttpResponse:
    """An unexpected exception: the log gets the traceback, the caller the request id (R-ERR-11)."""
    log.error("defect", request_id=request.id, exc_info=error)
    return error_response(
        request, 500, {"message": f"Internal error. Request id: {request.id}.", "code": "internal_error"}
    )


HANDLERS: dict[type[Exception], Callable[[Any, Any], HttpResponse]] = {
    Refusal: refusal,
    ValidationError: invalid_fields,
    Http404: not_found,
    Resolver404: no_such_path,
    HttpError: http_error,
    RequestDataTooBig: too_large,
    SuspiciousOperation: bad_request,
    UnreadablePostError: bad_request,
    Exception: unavailable,
}

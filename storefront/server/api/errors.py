"""Renders every error of the API (R-ERR-1)."""

from collections.abc import Callable
from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from django.urls import Resolver404
from ninja.errors import HttpError, ValidationError

from storefront.kit.http import json_response, refusal_response
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.server.api.body import BadRequest, TooLarge
from storefront.server.api.wording import expectation
from storefront.shops.request import Request

log = structlog.get_logger(__name__)


class MethodNotAllowed(Refusal):
    """`allow` is the value of the Allow header."""

    status, code, message = 405, "method_not_allowed", "This method is not allowed here."

    def __init__(self, allow: str) -> None:
        super().__init__()
        self.allow = allow

    @property
    def headers(self) -> dict[str, str]:
        return {"Allow": self.allow}


def refusal(request: Request, error: Refusal) -> HttpResponse:
    return refusal_response(error)


def not_found(request: Request, error: Exception) -> HttpResponse:
    return refusal_response(NotFound())


def too_large(request: Request, error: Exception) -> HttpResponse:
    return refusal_response(TooLarge())


def bad_request(request: Request, error: Exception) -> HttpResponse:
    """Django refused to read the request, or the caller disconnected while sending it."""
    return refusal_response(BadRequest())


def http_error(request: Request, error: HttpError) -> HttpResponse:
    """Ninja wraps the refusals of our parser in its own error."""
    cause = error.__cause__
    return refusal_response(cause if isinstance(cause, Refusal) else BadRequest())


def invalid_fields(request: Request, error: ValidationError) -> HttpResponse:
    """Each invalid field by its name, with what was expected of it."""
    errors: dict[str, list[str]] = {}
    for problem in error.errors:
        field = _field(problem["loc"])
        errors.setdefault(field, []).append(expectation(field, problem))
    return refusal_response(InvalidFields(errors=errors))


def _field(location: tuple[Any, ...]) -> str:
    """The field's name for the caller: `("body", "body", "options", "5")` becomes `options.5`. The source and the name
    of the handler's parameter are left out."""
    source, *path = location
    if source != "body":
        return str(path[-1])
    return ".".join(map(str, path[1:])) or "body"


def database_unavailable(request: Request, error: Exception) -> HttpResponse:
    log.error("database_away", request_id=request.id, exc_info=error)
    body = {"message": "The shop is temporarily unavailable. Please try again.", "code": "unavailable"}
    return json_response(body, status=503, headers={"Retry-After": "2"})


def internal_error(request: Request, error: Exception) -> HttpResponse:
    """An unexpected exception: the log gets the traceback, the caller the request id (R-ERR-11)."""
    log.error("defect", request_id=request.id, exc_info=error)
    message = f"Internal error. Request id: {request.id}."
    return json_response({"message": message, "code": "internal_error", "request_id": request.id}, status=500)


HANDLERS: dict[type[Exception], Callable[[Any, Any], HttpResponse]] = {
    Refusal: refusal,
    ValidationError: invalid_fields,
    Http404: not_found,
    Resolver404: not_found,
    HttpError: http_error,
    RequestDataTooBig: too_large,
    SuspiciousOperation: bad_request,
    UnreadablePostError: bad_request,
    OperationalError: database_unavailable,
    InterfaceError: database_unavailable,
    Exception: internal_error,
}

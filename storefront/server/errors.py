"""Every error of the API, rendered in one place (decisions: Error bodies)."""

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
from storefront.server.body import BadRequest, TooLarge
from storefront.server.wording import expectation
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


def unreadable(request: Request, error: Exception) -> HttpResponse:
    """Django would not read it, or the caller went away while sending it."""
    return refusal_response(BadRequest())


def http_error(request: Request, error: HttpError) -> HttpResponse:
    """Ninja hides what our parser raised behind an error of its own."""
    cause = error.__cause__
    return refusal_response(cause if isinstance(cause, Refusal) else BadRequest())


def invalid_fields(request: Request, error: ValidationError) -> HttpResponse:
    """Each field by its name, with what was expected of it."""
    errors: dict[str, list[str]] = {}
    for problem in error.errors:
        field = _field(problem["loc"])
        errors.setdefault(field, []).append(expectation(field, problem))
    return refusal_response(InvalidFields(errors=errors))


def _field(location: tuple[Any, ...]) -> str:
    """`("body", "body", "options", "5")` as `options.5`: where it was looked for and the name of the handler's
    parameter are not part of the caller's field."""
    source, *path = location
    if source != "body":
        return str(path[-1])
    return ".".join(map(str, path[1:])) or "body"


def database_away(request: Request, error: Exception) -> HttpResponse:
    log.error("database_away", request_id=request.id, exc_info=error)
    body = {"message": "The shop is briefly out of reach. Please try again.", "code": "unavailable"}
    return json_response(body, status=503, headers={"Retry-After": "2"})


def defect(request: Request, error: Exception) -> HttpResponse:
    """A defect of ours: the log has the traceback, the caller the id to name it by."""
    log.error("defect", request_id=request.id, exc_info=error)
    message = f"Something went wrong here. Request {request.id}."
    return json_response({"message": message, "code": "internal_error", "request_id": request.id}, status=500)


HANDLERS: dict[type[Exception], Callable[[Any, Any], HttpResponse]] = {
    Refusal: refusal,
    ValidationError: invalid_fields,
    Http404: not_found,
    Resolver404: not_found,
    HttpError: http_error,
    RequestDataTooBig: too_large,
    SuspiciousOperation: unreadable,
    UnreadablePostError: unreadable,
    OperationalError: database_away,
    InterfaceError: database_away,
    Exception: defect,
}

"""The API put together: one NinjaAPI, every room's router, and one place that renders refusals and errors."""

import orjson
import structlog
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser

from storefront.carts.api import router as carts
from storefront.catalogue.api import router as catalogue
from storefront.checkout.api import router as checkout
from storefront.kit.http import JSON, json_response, refusal_response
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

DESCRIPTION = """\
Read a shop's catalogue, build a cart over several requests, and hand the shopper to the shop's own checkout with a
signed link. Send `Authorization: Bearer <token>`; money is always a decimal string.
"""


class TooLarge(Refusal):
    status, code, message = 413, "too_large", "The body is larger than 1 MiB."


class WrongMediaType(Refusal):
    status, code, message = 415, "unsupported_media_type", "Send the body as application/json."


class MalformedJson(Refusal):
    status, code, message = 400, "malformed_json", "The body is not valid JSON."


class JsonBody(Parser):
    """Reads a request's body, or says in which way it cannot be read."""

    def parse_body(self, request: HttpRequest) -> dict:
        try:
            raw = request.body
        except RequestDataTooBig:
            raise TooLarge from None
        if request.content_type != JSON:
            raise WrongMediaType
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError:
            raise MalformedJson from None
        if not isinstance(body, dict):
            raise MalformedJson("The body must be a JSON object.")
        return body


api = NinjaAPI(
    title="Storefront",
    version="1",
    description=DESCRIPTION,
    parser=JsonBody(),
    urls_namespace="api",
)
api.add_router("/v1", catalogue)
api.add_router("/v1", carts)
api.add_router("/v1", checkout)


@api.exception_handler(Refusal)
def refusal(request: Request, error: Refusal) -> HttpResponse:
    return refusal_response(error)


@api.exception_handler(ValidationError)
def invalid_fields(request: Request, error: ValidationError) -> HttpResponse:
    """Each field by its name, with what was expected of it."""
    errors: dict[str, list[str]] = {}
    for problem in error.errors:
        # The first parts of a location say where it was looked for ("body", the parameter's name), not which field.
        path = [str(part) for part in problem["loc"][1:]]
        if problem["loc"][0] == "body":
            path = path[1:]
        errors.setdefault(".".join(path) or "body", []).append(problem["msg"].removeprefix("Value error, "))
    return refusal(request, InvalidFields(errors=errors))


@api.exception_handler(Http404)
def not_found(request: Request, error: Http404) -> HttpResponse:
    return refusal(request, NotFound())


@api.exception_handler(HttpError)
def http_error(request: Request, error: HttpError) -> HttpResponse:
    return json_response({"message": error.message, "code": "bad_request"}, status=error.status_code)


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def database_away(request: Request, error: Exception) -> HttpResponse:
    log.error("database_away", request_id=request.id, exc_info=error)
    body = {"message": "The shop is briefly out of reach. Please try again.", "code": "unavailable"}
    return json_response(body, status=503, headers={"Retry-After": "2"})


@api.exception_handler(Exception)
def defect(request: Request, error: Exception) -> HttpResponse:
    """A defect of ours: the log has the traceback, the caller the id to name it by."""
    log.error("defect", request_id=request.id, exc_info=error)
    if settings.DEBUG:
        raise error
    message = f"Something went wrong here. Request {request.id}."
    return json_response({"message": message, "code": "internal_error", "request_id": request.id}, status=500)

"""The API's description of itself: OpenAPI 3.1 from the handlers and schemas, with the headers and errors that every
call shares, and the page that shows it from static files of our own."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from ninja import Schema
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from pydantic import create_model

from storefront.kit.conditional import etag_of, is_known
from storefront.kit.http import JSON
from storefront.kit.schemas import ERRORS
from storefront.server import headers
from storefront.shops.auth import scope
from storefront.shops.scopes import SCOPES

if TYPE_CHECKING:
    from ninja import NinjaAPI

DESCRIPTION = """\
Read a shop's catalogue, build a cart over several requests, and hand the shopper to the shop's own checkout with a
signed link. An app that a merchant has installed reads and writes more of the shop under `/api/apps`, as far as the
merchant allowed it.

* **Credential**: send `Authorization: Bearer <token>`. The token belongs to one shop, and only it decides which. An
  app sends its installation token, also as `X-Shop-Access-Token`.
* **Money** is always a decimal string such as `"12.50"`, in the shop's currency. Parse it with a decimal type.
* **Bodies** are JSON objects of at most 1 MiB in UTF-8. Members that are not described are ignored.
* **Errors** are `{"message", "code"}` and what the status adds. `message` is for people, `code` for programs.
* **Sending twice**: give each POST an `Idempotency-Key`, and repeat it as often as the network makes you.
* `HEAD` works wherever `GET` does.
"""

TAGS = [
    {"name": "Catalogue", "description": "Products and categories, read-only. Answers carry an `ETag`."},
    {"name": "Cart", "description": "A basket named by its `X-Cart-Token`, and the link to the shop's checkout."},
    {"name": "Inventory", "description": "The stock of products and variants, and putting it right."},
    {"name": "Customers", "description": "Who the shop knows, with groups and addresses."},
    {"name": "Orders", "description": "What was sold; handing it over, cancelling it, giving money back."},
    {"name": "App", "description": "For installed apps: the shop, and what the app shows on its pages."},
]

STATUSES = {
    200: "Done.",
    201: "Made.",
    304: "Not changed since the answer that had this `ETag`; no body.",
    400: "The body is not valid JSON, or not an object.",
    401: "No credential, or one that is unknown, expired or revoked.",
    403: "The credential lacks a scope that this call needs.",
    404: "Not there; another shop's looks the same.",
    409: "The first request with this `Idempotency-Key` is still being carried out.",
    413: "The body is larger than 1 MiB.",
    415: "The body is not `application/json` in UTF-8.",
    422: "Refused: `errors` names the fields that do not fit, `code` says why.",
    429: "The credential's rate limit is used up.",
    500: "A defect of the service. Its log knows the `request_id`.",
    503: "The database cannot be reached. Nothing was changed; try again.",
}

CREDENTIAL, APP_CREDENTIAL = "ApiToken", "InstallationToken"
_SCOPES = "; ".join(f"`{name}`: {meaning}" for name, meaning in SCOPES.items())
SECURITY = {
    CREDENTIAL: {
        "type": "http",
        "scheme": "bearer",
        "description": "An API token of one shop, or the token of an app's installation in one; only the latter opens "
        f"the App API. Scopes: {_SCOPES}. Writing does not imply reading.",
    },
    APP_CREDENTIAL: {
        "type": "apiKey",
        "in": "header",
        "name": "X-Shop-Access-Token",
        "description": "The token of an app's installation in one shop, with the scopes that the merchant granted.",
    },
}


class Description(OpenAPISchema):
    """Ninja's description, and what it cannot see in a handler's signature."""

    def __init__(self, api: "NinjaAPI") -> None:
        super().__init__(api, "api/")
        self["info"]["license"] = {"name": "MIT", "identifier": "MIT"}
        # Relative to where this document was read: the API never looks at the host.
        self["servers"] = [{"url": "/", "description": "This service."}]
        self["tags"] = TAGS
        self["components"]["securitySchemes"] = SECURITY

    def operation_details(self, operation: Operation) -> dict[str, Any]:
        details = super().operation_details(operation)
        headers.describe_request(details, operation)
        if "requestBody" in details:
            _leave_out_null(details["requestBody"]["content"]["application/json"])
        return details

    def operation_security(self, operation: Operation) -> list[dict[str, Any]]:
        required = [list(auth.required) for auth in operation.auth_callbacks if isinstance(auth, scope)]
        return [{scheme: scopes} for scopes in required for scheme in SECURITY]

    def responses(self, operation: Operation) -> dict[int, dict[str, Any]]:
        _describe_errors(operation)
        # Handlers write JSON themselves, by the names that the wire has.
        operation.by_alias = True
        described = super().responses(operation)
        for status, response in described.items():
            response["description"] = STATUSES.get(status, response["description"])
            headers.describe_response(response, status, operation)
            if status == 304:
                response.pop("content", None)
        return dict(sorted(described.items()))


def _describe_errors(operation: Operation) -> None:
    """Its own errors, and those that come with a body and with an `Idempotency-Key`, whoever wrote the handler."""
    errors = ERRORS.keys() & operation.response_models.keys()
    if any(model.__ninja_param_source__ == "body" for model in operation.models):
        errors |= {400, 413, 415, 422}
    if "POST" in operation.methods:
        errors |= {400, 409, 413, 422}
    for status in errors:
        if operation.response_models.get(status) is None:
            operation.response_models[status] = _error(ERRORS[status])


@cache
def _error(shape: type[Schema]) -> type[Schema]:
    """As Ninja wraps what an operation answers; one for all operations."""
    return create_model("Answer", __base__=Schema, response=(shape, ...))


def _leave_out_null(content: dict[str, Any]) -> None:
    """A body that need not be sent is an object where it is."""
    objects = [each for each in content["schema"].get("anyOf", []) if each != {"type": "null"}]
    if len(objects) == 1:
        (content["schema"],) = objects


@lru_cache(maxsize=1)
def _document() -> tuple[bytes, str]:
    """The document and its ETag. Made once: nothing in it depends on a request or a shop."""
    from storefront.server.api import api

    encoded = orjson.dumps(api.get_openapi_schema(), option=orjson.OPT_NON_STR_KEYS)
    return encoded, etag_of(encoded)


def openapi_json(request: HttpRequest) -> HttpResponse:
    """`GET /api/openapi.json`."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    encoded, etag = _document()
    cached = {"ETag": etag, "Cache-Control": "public, max-age=0, must-revalidate"}
    if is_known(etag, request.META.get("HTTP_IF_NONE_MATCH", "")):
        return HttpResponse(status=304, headers=cached)
    return HttpResponse(encoded, content_type=JSON, headers=cached)


def docs(request: HttpRequest) -> HttpResponse:
    """`GET /api/docs`: the one page under /api, for people."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    page = render_to_string("server/docs.html", {"settings": {"url": "/api/openapi.json", **SWAGGER}})
    return HttpResponse(page, headers={"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"})


SWAGGER = {
    "layout": "BaseLayout",
    "deepLinking": True,
    "defaultModelsExpandDepth": 0,
    "docExpansion": "list",
    "displayRequestDuration": True,
    "tryItOutEnabled": False,
    # Would ask a server of Swagger's whether the document is valid.
    "validatorUrl": None,
}

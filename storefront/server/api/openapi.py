"""The API's OpenAPI 3.1 description, from the handlers and schemas, with the headers and errors of every call."""

from functools import cache
from typing import TYPE_CHECKING, Any

import orjson
from ninja import Schema
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation
from pydantic import create_model

from storefront.kit.api.conditional import PreconditionFailed
from storefront.kit.api.schemas import ERRORS
from storefront.kit.refusals import InvalidFields, NotFound, problem
from storefront.server.api import headers, webhooks
from storefront.server.api.body import TooLarge, WrongMediaType
from storefront.server.api.codes import codes_of
from storefront.server.api.errors import DOCS, described_error
from storefront.server.api.examples import add_example
from storefront.server.api.limits import token_and_limits
from storefront.server.api.versions import DEPRECATED
from storefront.shops.auth import InsufficientScope, TokenMissing, scope
from storefront.shops.idempotency import METHODS, InFlight
from storefront.shops.ratelimit import RateLimited
from storefront.shops.scopes import SCOPES

if TYPE_CHECKING:
    from ninja import NinjaAPI

DESCRIPTION = """\
Read a shop's catalogue, build a cart over several requests, and send the shopper to the shop's own checkout with a
signed link. Apps that a merchant has installed can read and write more of the shop's data under `/api/apps`, within the
scopes that the merchant granted.

* **Authentication**: send `Authorization: Bearer <token>`. Each token belongs to one shop and decides which shop a
  request is about. Apps can also send their installation token as `X-Shop-Access-Token`.
* **Money** is always a decimal string such as `"12.50"`, in the shop's currency. Parse it with a decimal type.
* **Request bodies** are JSON objects of at most 1 MiB in UTF-8. Unknown members are ignored.
* **Errors** have a `message` for people, a `code` for programs, the `doc_url` of an explanation, and a `request_id`.
  A 422 adds `errors`, the messages by field, and `problems`, the same for programs.
  [All codes](/api/docs/errors), each with its cause and what to do.
* **Typos**: parameters and members that the service does not know are ignored; the header `X-Ignored` names them.
* **Retries**: send an `Idempotency-Key` with each POST, PATCH and DELETE, so that you can repeat the request safely.
* **Writes that must not overwrite**: send `If-Match` with the `ETag` of the record as you read it.
* `HEAD` works wherever `GET` does.
"""

TAGS = [
    {"name": "Catalogue", "description": "Products and categories, read-only. Responses have an `ETag`."},
    {"name": "Cart", "description": "Carts, identified by an `X-Cart-Token`, and links to the shop's checkout."},
    {"name": "Inventory", "description": "Stock of products and variants, and stock adjustments."},
    {"name": "Customers", "description": "Customers with their groups and addresses."},
    {"name": "Orders", "description": "Orders, with fulfilments, cancellations and refunds."},
    {"name": "Exports", "description": "A whole list as one file."},
    {"name": "App: Shop", "description": "The shop that installed the app."},
    {"name": "App: Products", "description": "Products in any status, to read and write."},
    {"name": "App: Inventory", "description": "Stock of products and variants, and stock adjustments."},
    {"name": "App: Customers", "description": "Customers with their groups and addresses."},
    {"name": "App: Orders", "description": "Orders, with fulfilments, cancellations and refunds."},
    {"name": "App: Extensions", "description": "Blocks that the app shows on the shop's pages."},
    {"name": "App: Script tags", "description": "Scripts that the app loads on the shop's pages."},
    {"name": "App: Webhooks", "description": "Webhooks, their deliveries, and the feed of events."},
    {"name": "App: Audit log", "description": "What was changed in the shop, by whom."},
]

STATUSES = {
    200: "Success.",
    201: "Created.",
    304: "Not modified since the response with this `ETag`. No body.",
    400: "The request body is not valid JSON or not an object.",
    401: "The token is missing, malformed, unknown, expired or that of another API. `code` says which.",
    403: "The token lacks a scope that this call requires.",
    404: "Not found. Resources of other shops look the same.",
    409: "The first request with this `Idempotency-Key` is still in progress.",
    412: "The record no longer has the `ETag` of `If-Match`. Nothing was changed.",
    413: "The request body is larger than 1 MiB.",
    415: "The request body is not `application/json` in UTF-8.",
    422: "Invalid request. `errors` has the messages by field, `code` the reason.",
    429: "The token's rate limit is exceeded.",
    500: "Internal error. The log has details under the `request_id`.",
    503: "The database cannot be reached. Nothing was changed. Try again.",
}

REQUEST_ID = "0b9e3a1c5d7f4e2a9b8c6d5e4f3a2b1c"

# An error as it is answered, by status. 422 differs by operation: this is what an invalid field gets.
EXAMPLES: dict[int, dict[str, Any]] = {
    400: {
        "message": "The request body is not valid JSON: unexpected end of data at line 1, column 2.",
        "code": "malformed_json",
        "line": 1,
        "column": 2,
    },
    401: TokenMissing().body(),
    403: InsufficientScope(required_scopes=["read_products"], granted_scopes=["read_cart"]).body(),
    404: NotFound().body(),
    409: InFlight().body(),
    412: PreconditionFailed().body(),
    413: TooLarge().body(),
    415: WrongMediaType().body(),
    422: InvalidFields(problems=[problem("page", "invalid", "page must be an integer of at least 1.")]).body(),
    429: RateLimited(1).body(),
    500: {"message": f"Internal error. Request id: {REQUEST_ID}.", "code": "internal_error"},
    503: {"message": "The shop is temporarily unavailable. Please try again.", "code": "unavailable"},
}

CREDENTIAL, APP_CREDENTIAL = "ApiToken", "InstallationToken"
_SCOPES = "; ".join(f"`{name}`: {meaning}" for name, meaning in SCOPES.items())
SECURITY = {
    CREDENTIAL: {
        "type": "http",
        "scheme": "bearer",
        "description": (
            "An API token of one shop, or the token of an app's installation in one shop. Only installation "
            f"tokens can use the App API. Scopes: {_SCOPES}. Write scopes do not include read scopes."
        ),
    },
    APP_CREDENTIAL: {
        "type": "apiKey",
        "in": "header",
        "name": "X-Shop-Access-Token",
        "description": (
            "The token of an app's installation in one shop, with the scopes that the merchant granted. Counts if a "
            "token is sent in `Authorization`, too."
        ),
    },
}


class Description(OpenAPISchema):
    """Ninja's description, plus what a handler's signature does not show."""

    def __init__(self, api: "NinjaAPI") -> None:
        super().__init__(api, "api/")
        self["info"]["license"] = {"name": "MIT", "identifier": "MIT"}
        self["info"]["contact"] = {"name": "The operator of this service"}
        # Relative to the document's own URL, since the API ignores the host.
        self["servers"] = [{"url": "/", "description": "This service."}]
        self["tags"] = TAGS
        self["components"]["securitySchemes"] = SECURITY
        self["webhooks"] = webhooks.describe(self._reference)
        self["paths"]["/api/apps/extensions"]["post"]["callbacks"] = webhooks.describe_block_call(self._reference)
        self._drop_unused_schemas()

    def _reference(self, model: type[Schema]) -> dict[str, Any]:
        """Add the schema to the components, and return a reference to it."""
        schema = model.model_json_schema(ref_template=REF_TEMPLATE)
        self.add_schema_definitions(schema.pop("$defs", {}))
        self.schemas[model.__name__] = schema
        return {"$ref": REF_TEMPLATE.format(model=model.__name__)}

    def _drop_unused_schemas(self) -> None:
        """Models of query parameters, which are described where they are sent."""
        used = orjson.dumps(self, option=orjson.OPT_NON_STR_KEYS).decode()
        schemas = self["components"]["schemas"]
        for name in [name for name in schemas if f'"#/components/schemas/{name}"' not in used]:
            del schemas[name]

    def operation_details(self, operation: Operation) -> dict[str, Any]:
        details = super().operation_details(operation)
        for parameter in details["parameters"]:
            # A list of examples belongs into the schema; a parameter has one, or a mapping.
            if examples := parameter.pop("examples", None):
                parameter["example"] = examples[0]
        headers.describe_request(details, operation)
        if operation.view_func.__name__ in DEPRECATED:
            details["deprecated"] = True
        if "requestBody" in details:
            _require_object(details["requestBody"]["content"]["application/json"])
        details["description"] += f"\n\n{token_and_limits(operation)}"
        add_example(operation.view_func.__name__, details)
        return details

    def operation_security(self, operation: Operation) -> list[dict[str, Any]]:
        required = [list(auth.required) for auth in operation.auth_callbacks if isinstance(auth, scope)]
        return [{scheme: scopes} for scopes in required for scheme in SECURITY]

    def responses(self, operation: Operation) -> dict[int, dict[str, Any]]:
        _describe_errors(operation)
        # Handlers write their JSON themselves, with the aliases as names.
        operation.by_alias = True
        described = super().responses(operation)
        for status, response in described.items():
            response["description"] = STATUSES.get(status, response["description"])
            headers.describe_response(response, status, operation)
            if status == 304:
                response.pop("content", None)
            elif status in EXAMPLES:
                codes = codes_of(operation, status)
                listed = ", ".join(f"[`{code}`]({DOCS}#{code})" for code in codes)
                response["description"] += f" Codes: {listed}."
                response["x-codes"] = codes
                response["content"]["application/json"]["example"] = described_error(EXAMPLES[status], REQUEST_ID)
        return dict(sorted(described.items()))


def _describe_errors(operation: Operation) -> None:
    """Adds the errors that the handler declares, and those of every call with a body or an `Idempotency-Key`."""
    errors = ERRORS.keys() & operation.response_models.keys()
    if any(model.__ninja_param_source__ == "body" for model in operation.models):
        errors |= {400, 413, 415, 422}
    if set(METHODS) & set(operation.methods):
        errors |= {400, 409, 413, 422}
    for status in errors:
        if operation.response_models.get(status) is None:
            operation.response_models[status] = _error_response(ERRORS[status])


@cache
def _error_response(shape: type[Schema]) -> type[Schema]:
    """The schema wrapped as Ninja wraps responses. Cached, so that all operations share one."""
    return create_model("Answer", __base__=Schema, response=(shape, ...))


def _require_object(content: dict[str, Any]) -> None:
    """An optional body may be left out, but not be `null`: remove that from its schema."""
    objects = [each for each in content["schema"].get("anyOf", []) if each != {"type": "null"}]
    if len(objects) == 1:
        (content["schema"],) = objects

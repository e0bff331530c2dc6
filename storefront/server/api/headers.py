"""The headers of requests and responses in the OpenAPI description."""

from typing import Any

from ninja.operation import Operation

from storefront.shops.idempotency import METHODS


def _parameter(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "in": "header",
        "name": name,
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


IDEMPOTENCY_KEY = _parameter(
    "Idempotency-Key",
    "A unique key for this request. Once the request has been carried out, its response is stored for 24 hours and "
    "returned again, with `Idempotent-Replayed: true`, if the same request is repeated. A different request with the "
    "same key is refused. A refused request can be corrected under its key. 1 to 255 characters.",
    minLength=1,
    maxLength=255,
    pattern=r"^[^\x00-\x1F\x7F]+$",
)
CART_TOKEN = _parameter(
    "X-Cart-Token",
    "The `cart_token` of an earlier response. It identifies the cart and is enough to read and change it: treat it "
    "like a session id. An unknown, malformed or expired token is treated as none.",
)
IF_NONE_MATCH = _parameter(
    "If-None-Match", "The `ETag` of an earlier response. If it still matches, the response is 304."
)

IF_MATCH = _parameter(
    "If-Match",
    "The `ETag` of the record as you read it. If the record has changed since, the response is 412, and nothing "
    "changes.",
)


def _header(description: str, kind: str = "string") -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind}}


EVERY_ANSWER = {
    "API-Version": _header("Version of the API that answers, such as `1.1`. It counts additions within `/api/v1`."),
    "X-Request-Id": _header("The request's id in the service's log."),
    "X-Ignored": _header("Parameters and members that the service does not know: percent-encoded, at most ten."),
    "X-RateLimit-Limit": _header("Calls allowed per minute, if the token has a limit.", "integer"),
    "X-RateLimit-Remaining": _header("Calls left, if the token has a limit.", "integer"),
    "X-RateLimit-Reset": _header(
        "When the oldest counted call expires, in Unix seconds, if the token has a limit.", "integer"
    ),
}
RETRY_AFTER = _header("Seconds to wait before trying again.", "integer")
CHALLENGE = _header("`Bearer`.")
REPLAYED = _header("`true` if this response repeats an earlier one with the same `Idempotency-Key`.")
ETAG = _header("Strong validator of this response.")


def describe_request(details: dict[str, Any], operation: Operation) -> None:
    """Adds the header parameters that do not appear in the handler's signature."""
    shared = []
    if set(METHODS) & set(operation.methods):
        shared.append(IDEMPOTENCY_KEY)
    if "Cart" in (operation.tags or []):
        shared.append(CART_TOKEN)
    if 304 in operation.response_models:
        shared.append(IF_NONE_MATCH)
    if 412 in operation.response_models:
        shared.append(IF_MATCH)
    named = {parameter["name"].lower() for parameter in details["parameters"]}
    details["parameters"] += [parameter for parameter in shared if parameter["name"].lower() not in named]


def describe_response(response: dict[str, Any], status: int, operation: Operation) -> None:
    """Adds the headers that responses with this status have."""
    described = dict(EVERY_ANSWER)
    if status in (409, 429, 503):
        described["Retry-After"] = RETRY_AFTER
    if status == 401:
        described["WWW-Authenticate"] = CHALLENGE
    if set(METHODS) & set(operation.methods) and status < 300:
        described["Idempotent-Replayed"] = REPLAYED
    is_read, is_write = 304 in operation.response_models, 412 in operation.response_models
    is_cart = "Cart" in (operation.tags or [])
    has_etag = status in (200, 201) and (is_cart or "DELETE" not in operation.methods)
    if (is_read and status in (200, 304)) or ((is_write or (is_cart and "GET" in operation.methods)) and has_etag):
        described["ETag"] = ETAG
    response["headers"] = described | response.get("headers", {})

"""Decides which browser scripts may call the public API (R-CALL-14): none, unless a shop allows their origin."""

from django.http import HttpRequest, HttpResponse

from storefront.shops import queries

METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
HEADERS = "Authorization, Content-Type, Accept, X-Cart-Token, Idempotency-Key, If-Match, If-None-Match"
EXPOSED = (
    "API-Version, Content-Location, Deprecation, ETag, Idempotent-Replayed, Retry-After, Sunset, X-Ignored, "
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
)


def is_open_to_browsers(request: HttpRequest) -> bool:
    """Returns True if a shop can allow other origins to make this call: only in the public API, never in the App
    API."""
    return request.path_info.startswith("/api/v1/")


def allow_origin(request: HttpRequest, response: HttpResponse) -> None:
    """Add the CORS headers if the credential's shop allows the request's origin. Without a credential, any shop counts,
    since a preflight never has one."""
    origin, caller = request.META.get("HTTP_ORIGIN"), getattr(request, "caller", None)
    vary = response.headers.get("Vary")
    response["Vary"] = f"{vary}, Origin" if vary else "Origin"
    if not origin or not queries.origin_is_allowed(origin, shop=caller.shop if caller else None):
        return
    response["Access-Control-Allow-Origin"] = origin
    if "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META and request.method == "OPTIONS":
        response["Access-Control-Allow-Methods"] = METHODS
        response["Access-Control-Allow-Headers"] = HEADERS
        response["Access-Control-Max-Age"] = "600"
    else:
        response["Access-Control-Expose-Headers"] = EXPOSED

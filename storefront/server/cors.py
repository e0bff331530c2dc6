"""Which browser scripts may call the public API (decisions: HEAD, OPTIONS). Off unless a shop allows an origin."""

from django.http import HttpRequest, HttpResponse

from storefront.shops import queries

METHODS = "GET, HEAD, POST, PATCH, DELETE"
HEADERS = "Authorization, Content-Type, Accept, X-Cart-Token, Idempotency-Key, If-None-Match"
EXPOSED = "ETag, Idempotent-Replayed, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"


def is_preflight(request: HttpRequest) -> bool:
    return request.method == "OPTIONS"


def answer_preflight(request: HttpRequest) -> HttpResponse:
    """A preflight carries no credential, so any shop's origin will do; the call itself is checked by its own."""
    response = HttpResponse(status=204, headers={"Allow": f"{METHODS}, OPTIONS"})
    origin = request.headers.get("Origin")
    if origin and request.path_info.startswith("/api/v1/") and queries.origin_is_allowed(origin):
        response["Access-Control-Allow-Origin"] = origin
        response["Access-Control-Allow-Methods"] = METHODS
        response["Access-Control-Allow-Headers"] = HEADERS
        response["Access-Control-Max-Age"] = "600"
    response["Vary"] = "Origin"
    return response


def allow_origin(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let the calling script read the answer where the credential's shop allows its origin."""
    origin, caller = request.headers.get("Origin"), getattr(request, "caller", None)
    if origin and caller and request.path_info.startswith("/api/v1/"):
        if queries.origin_is_allowed(origin, shop=caller.shop):
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = EXPOSED
        response["Vary"] = "Origin"
    return response

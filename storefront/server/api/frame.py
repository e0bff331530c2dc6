"""Answers a request under /api, with a JSON response in every case."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse
from django.urls import resolve
from django.utils.cache import patch_vary_headers

from storefront.kit.api.conditional import Revalidated, gzip_etag
from storefront.kit.api.http import JSON
from storefront.kit.refusals import NotFound, Refusal
from storefront.server.api import body, cors
from storefront.server.api.api import api
from storefront.server.api.errors import MethodNotAllowed
from storefront.server.api.ignored import HEADER, header_value, ignored_names, operation_of
from storefront.server.api.versions import DEPRECATED, VERSION, VERSION_HEADER
from storefront.server.edge.representation import MIN_GZIP_BYTES, accepts_gzip, compress
from storefront.shops import idempotency, positions
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

APPS, CARTS = "/api/apps/", "/api/v1/cart"


def is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def answer(request: Request) -> HttpResponse:
    """The response to an API call. Never raises: an unexpected exception becomes a JSON 500. HEAD is answered as GET,
    without the body (R-CALL-13)."""
    is_head = request.method == "HEAD"
    if is_head:
        request.method = "GET"
    try:
        response = _add_headers(request, _count_unauthenticated(request, _dispatch(request)))
        _record_write(request)
        _compress(request, response)
    except Exception as error:
        response = api.on_exception(request, error)
    if response.status_code not in (204, 304):
        # Set before a HEAD loses its body, whose length it still states.
        response["Content-Length"] = str(len(response.content))
    if is_head:
        request.method = "HEAD"
        response.content = b""
    # Otherwise Django would log a warning for each refusal, and the access log has them already.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _dispatch(request: Request) -> HttpResponse:
    """The handler's response. Unknown paths, wrong methods and OPTIONS are answered here, so that all of them are JSON
    and none of them a page."""
    try:
        body.limit_body(request)
        if "\0" in request.path_info:
            raise NotFound
        request.resolver_match = match = resolve(request.path_info)
        response = match.func(request, *match.args, **match.kwargs)
        if response.status_code != 405:
            return response
        allow = _allow_header(response["Allow"])
        if request.method != "OPTIONS":
            raise MethodNotAllowed(allow)
        response = HttpResponse(status=204, headers={"Allow": allow})
        del response["Content-Type"]
        return response
    except Exception as error:
        return api.on_exception(request, error)


def _count_unauthenticated(request: Request, response: HttpResponse) -> HttpResponse:
    """Counts an app's call that was answered before its token was checked, such as a 404, so that every response of the
    App API has the rate limit's headers."""
    is_uncounted = not hasattr(request, "caller") and response.status_code in (204, 404, 405, 413)
    if is_uncounted and request.path_info.startswith(APPS):
        with suppress(Refusal):
            app_scope()(request)
    return response


def _record_write(request: Request) -> None:
    """After a caller's write, no replica shows the shop that has not replayed it. Replicas show no carts."""
    is_write = request.method in idempotency.METHODS and hasattr(request, "caller")
    if is_write and not request.path_info.startswith(CARTS):
        positions.record_write(request.shop.pk)


def _compress(request: Request, response: HttpResponse) -> None:
    """Compresses a larger JSON body for callers who accept that (R-CALL-34). The edge does it for what it caches."""
    headers = response.headers
    if isinstance(response, Revalidated) or headers.get("Content-Type") != JSON or "Content-Encoding" in headers:
        return
    if len(response.content) < MIN_GZIP_BYTES:
        return
    patch_vary_headers(response, ["Accept-Encoding"])
    if accepts_gzip(request.META.get("HTTP_ACCEPT_ENCODING", "")):
        response.content = compress(response.content)
        headers["Content-Encoding"] = "gzip"
        if "ETag" in headers:
            headers["ETag"] = gzip_etag(headers["ETag"])


def _allow_header(methods: str) -> str:
    """The value of the Allow header: the handler's methods, OPTIONS, and HEAD where there is GET."""
    named = {method.strip() for method in methods.split(",")} | {"OPTIONS"}
    if "GET" in named:
        named.add("HEAD")
    return ", ".join(sorted(named))


def _add_headers(request: Request, response: HttpResponse) -> HttpResponse:
    """Adds the headers that every API response has."""
    headers, operation = response.headers, operation_of(request)
    headers["X-Content-Type-Options"] = "nosniff"
    headers[VERSION_HEADER] = VERSION
    if operation and (deprecation := DEPRECATED.get(operation.view_func.__name__)):
        for name, value in deprecation.headers.items():
            headers[name] = value
    # Responses contain cart tokens and signed links; those that may be cached say so themselves.
    headers.setdefault("Cache-Control", "no-store")
    if isinstance(response, Revalidated):
        response.caller = request.caller
    quota = getattr(request, "quota", None)
    if quota:
        for name, value in quota.headers.items():
            headers[name] = value
    if hasattr(request, "caller") and (ignored := header_value(ignored_names(request))):
        headers[HEADER] = ignored
    if cors.is_open_to_browsers(request):
        cors.allow_origin(request, response)
    return response

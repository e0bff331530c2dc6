"""The frame of the API: from a request under /api to an answer in JSON, whatever happens on the way."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse
from django.urls import resolve

from storefront.kit.refusals import NotFound, Refusal
from storefront.server import body, cors
from storefront.server.api import api
from storefront.server.errors import MethodNotAllowed
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

APPS = "/api/apps/"


def is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def answer(request: Request) -> HttpResponse:
    """The answer to a call of the API. Never raises: a defect is a JSON 500."""
    head = request.method == "HEAD"
    if head:
        request.method = "GET"
    try:
        response = _complete(request, _counted(request, _routed(request)))
    except Exception as error:
        response = api.on_exception(request, error)
    if response.status_code not in (204, 304):
        # Set here, since a server can only count a body that is there, and would send a stream without it.
        response["Content-Length"] = str(len(response.content))
    if head:
        request.method = "HEAD"
        response.content = b""
    # Django would log each refusal as a warning of its own; the access log has them all.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _routed(request: Request) -> HttpResponse:
    """The handler's answer, and no page's: an unknown path, a wrong method and OPTIONS are answered here."""
    try:
        body.bound(request)
        if "\0" in request.path_info:
            raise NotFound
        request.resolver_match = match = resolve(request.path_info)
        response = match.func(request, *match.args, **match.kwargs)
        if response.status_code != 405:
            return response
        allow = _allowed(response["Allow"])
        if request.method != "OPTIONS":
            raise MethodNotAllowed(allow)
        response = HttpResponse(status=204, headers={"Allow": allow})
        del response["Content-Type"]
        return response
    except Exception as error:
        return api.on_exception(request, error)


def _counted(request: Request, response: HttpResponse) -> HttpResponse:
    """A known app's call counts also where no handler was found that would have asked who calls, so that every answer
    of the App API says what is left of the limit."""
    unheard = not hasattr(request, "caller") and response.status_code in (204, 404, 405, 413)
    if unheard and request.path_info.startswith(APPS):
        with suppress(Refusal):
            app_scope()(request)
    return response


def _allowed(methods: str) -> str:
    """The methods that a handler was written for, and those that come with them."""
    named = {method.strip() for method in methods.split(",")} | {"OPTIONS"}
    if "GET" in named:
        named.add("HEAD")
    return ", ".join(sorted(named))


def _complete(request: Request, response: HttpResponse) -> HttpResponse:
    """The headers that every answer has."""
    headers = response.headers
    headers["X-Content-Type-Options"] = "nosniff"
    # Answers hold cart tokens and signed links; what may be kept says so itself.
    headers.setdefault("Cache-Control", "no-store")
    quota = getattr(request, "quota", None)
    if quota:
        for name, value in quota.headers.items():
            headers[name] = value
    if cors.is_open_to_browsers(request):
        cors.allow_origin(request, response)
    return response

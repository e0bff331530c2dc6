"""What every request passes: its time and id, JSON errors and HEAD and CORS under /api, the shop of a page."""

import uuid
from collections.abc import Callable
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from storefront.kit import clock
from storefront.kit.http import JSON, json_response
from storefront.server import cors
from storefront.shops import queries
from storefront.shops.models import Shop
from storefront.shops.request import Request

Next = Callable[[HttpRequest], HttpResponse]

CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 500: "internal_error"}
MESSAGES = {
    400: "The request could not be read.",
    404: "Not found.",
    405: "This method is not allowed here.",
    413: "The body is larger than 1 MiB.",
}


class RequestFrame:
    """Outermost: gives the request its time and id, and keeps every answer under /api JSON."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: Request) -> HttpResponse:
        request.now = clock.now()
        request.id = uuid.uuid4().hex
        if not is_api(request):
            return self.get_response(request)
        if cors.is_preflight(request):
            return cors.answer_preflight(request)
        head = request.method == "HEAD"
        if head:
            request.method = "GET"
        response = as_json(request, self.get_response(request))
        if head:
            response["Content-Length"] = str(len(response.content))
            response.content = b""
        return cors.allow_origin(request, response)


def is_api(request: HttpRequest) -> bool:
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def as_json(request: Request, response: HttpResponse) -> HttpResponse:
    """Errors that Django itself made, such as an unknown path, in the shape of all others."""
    if response.status_code < 400 or response.headers.get("Content-Type", "").startswith(JSON):
        return response
    status = response.status_code
    body = {"message": MESSAGES.get(status, "The request failed."), "code": CODES.get(status, "error")}
    if status == 500:
        body |= {"message": f"Something went wrong here. Request {request.id}.", "request_id": request.id}
    answer = json_response(body, status=status)
    if "Allow" in response.headers:
        answer["Allow"] = response["Allow"]
    return answer


class ShopOfPage:
    """Gives a page its shop, by host, when it asks for it. The API sets its own from the credential."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: Request) -> HttpResponse:
        if not is_api(request):
            request.shop = cast(Shop, SimpleLazyObject(lambda: queries.shop_of_host(request.get_host())))
        return self.get_response(request)

"""What every request passes: its time and id, the way into the API, the shop of a page."""

import uuid
from collections.abc import Callable
from typing import cast

import structlog
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from storefront.kit import clock
from storefront.server import frame
from storefront.shops import queries
from storefront.shops.models import Shop
from storefront.shops.request import Request

Next = Callable[[HttpRequest], HttpResponse]


class RequestFrame:
    """Gives the request its time, and its id, which every log line until its end carries. A call of the API goes
    straight to its handler, since it has no use for the sessions, messages and CSRF checks of pages, and their time
    would be spent on every call."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: Request) -> HttpResponse:
        request.now = clock.now()
        request.id = uuid.uuid4().hex
        structlog.contextvars.bind_contextvars(request_id=request.id)
        response = frame.answer(request) if frame.is_api(request) else self.get_response(request)
        response["X-Request-Id"] = request.id
        return response


class ShopOfPage:
    """Gives a page its shop, by host, when it asks for it. The API sets its own from the credential."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: Request) -> HttpResponse:
        request.shop = cast(Shop, SimpleLazyObject(lambda: queries.shop_of_host(request.get_host())))
        return self.get_response(request)

"""Gives every request its time, and routes API calls."""

from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden

from storefront.kit import clock
from storefront.kit.callers import client_network
from storefront.server.api import frame
from storefront.shops import audit
from storefront.shops.request import Request

VISITOR = audit.Actor(audit.Kind.CUSTOMER)

Next = Callable[[HttpRequest], HttpResponse]


class RequestFrame:
    """Sets the request's time, and adds its id to the response and to every log line of the request. An API call skips
    the remaining middleware: every answer to it is JSON (R-CALL-1), and it needs no sessions, messages and CSRF checks,
    which would cost time on every call."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: Request) -> HttpResponse:
        request.now = clock.now()
        structlog.contextvars.bind_contextvars(request_id=request.id)
        # A shopper, unless a credential or a session identifies somebody else.
        with audit.acting(VISITOR, place=lambda: client_network(request), request_id=request.id):
            response = self._answer(request)
        response["X-Request-Id"] = request.id
        return response

    def _answer(self, request: Request) -> HttpResponse:
        if request.META.get("HTTP_SERVICE_WORKER") == "script":
            # This service has none. A stranger's service worker could intercept all pages of the origin from then on.
            return HttpResponseForbidden("There are no service workers here.", content_type="text/plain")
        return frame.answer(request) if frame.is_api(request) else self.get_response(request)

"""One log line a request: method, path, status and how long it took, under the request's id.

Never the query: on /cart/resume it is a signed link, which is as powerful as a password (contract: Checkout handoff
rules, 5), and elsewhere it is what people search for. That is why this is not django-structlog's middleware, which
logs whole URLs.
"""

import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest, HttpResponse

log = structlog.get_logger("storefront.requests")


class RequestLog:
    """Outermost, so that its time is the caller's and its status is the one that was sent."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        method = request.method
        try:
            response = self.get_response(request)
            log.info(
                "request",
                method=method,
                path=request.path_info,
                status=response.status_code,
                milliseconds=round((time.perf_counter() - began) * 1000, 1),
            )
            return response
        finally:
            structlog.contextvars.clear_contextvars()

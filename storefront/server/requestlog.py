"""One log line a request: method, path, status and how long it took, under the request's id.

Never the query: on /cart/resume it is a signed link, which is as powerful as a password (contract: Checkout handoff
rules, 5), and elsewhere it is what people search for. That is why this is not django-structlog's middleware, which
logs whole URLs.
"""

import time
from collections.abc import Callable

import structlog
from django.http import HttpResponse

from storefront.server import accesslog, frame
from storefront.shops.request import Request


class RequestLog:
    """Outermost, so that its time is the caller's and its status is the one that was sent."""

    def __init__(self, get_response: Callable[[Request], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: Request) -> HttpResponse:
        began = time.perf_counter()
        method = request.method or ""
        try:
            response = self.get_response(request)
            path, status = request.path_info, response.status_code
            milliseconds = round((time.perf_counter() - began) * 1000, 1)
            if frame.is_api(request):
                accesslog.write(time.time(), request.id, method, path, status, milliseconds)
            else:
                accesslog.log.info("request", method=method, path=path, status=status, milliseconds=milliseconds)
            return response
        finally:
            structlog.contextvars.clear_contextvars()

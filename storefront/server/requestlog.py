"""Logs each request in a line: method, path, status, duration and the request's id, and if they are known, the shop's
domain, and the kind and id of the caller, such as `token 5`. Counts the request's time, also by shop
(`deployment/load.py`).

Never the query: on /cart/resume it is a signed link, which is as powerful as a password (R-LINK-11), and elsewhere it
contains what people search for. Therefore this does not use django-structlog's middleware, which logs whole URLs. An
order's id in a path is shortened, and the signature of a download's link is left out, since the URL alone opens the
order, or gets the file, for a day.
"""

import time

import structlog
from django.conf import settings
from django.http import HttpResponse

from storefront.deployment import load
from storefront.kit import metrics
from storefront.kit.middleware import Middleware
from storefront.server.api import frame
from storefront.server.edge import access_log
from storefront.server.logs import path_without_secrets
from storefront.shops.request import Request

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestLog(Middleware):
    """The outermost middleware, so that it measures the whole request and sees the status that is sent."""

    def __call__(self, request: Request) -> HttpResponse:
        started = time.perf_counter()
        method = request.method or ""
        try:
            response = self.get_response(request)
            # Not `path_info`, which lacks the shop's segment at the secure host.
            path, status = path_without_secrets(request.path), response.status_code
            seconds = time.perf_counter() - started
            metrics.REQUESTS.labels(_method(method), _route(request), str(status)).observe(seconds)
            who = structlog.contextvars.get_contextvars()
            if shop := who.get("shop"):
                metrics.SHOP_SECONDS.labels(shop).inc(seconds)
                load.count(shop, seconds)
            milliseconds = round(seconds * 1000, 1)
            if frame.is_api(request):
                line = (time.time(), request.id, method, path, status, milliseconds)
                access_log.write(*line, shop or "", who.get("caller", ""))
            else:
                access_log.log.info("request", method=method, path=path, status=status, milliseconds=milliseconds)
            return response
        finally:
            structlog.contextvars.clear_contextvars()


def _route(request: Request) -> str:
    """The URL pattern of the request, of which there are few; never its path."""
    if request.resolver_match:
        return request.resolver_match.route
    return "static" if request.path_info.startswith(settings.STATIC_URL) else "none"


def _method(method: str) -> str:
    return method if method in METHODS else "other"

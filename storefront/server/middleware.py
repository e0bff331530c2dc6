"""What every request passes first: its id and the visitor's address behind proxies, its time, the way of API calls, and
a valid host."""

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden

from storefront import audit
from storefront.kit import callers, clock
from storefront.kit.middleware import Middleware
from storefront.server.api import frame
from storefront.server.gate.rejections import BROKEN, POLICY, rejection_page
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

VISITOR = audit.Actor(audit.Kind.CUSTOMER)


class VisitorAddress(Middleware):
    """Sets the request's id and the visitor's address from headers of trusted proxies (`kit/callers.py`). If a proxy
    that is not trusted sends such headers, it logs a warning, once: most often a setting is missing."""

    has_warned = False

    def __call__(self, request: Request) -> HttpResponse:
        request.id = callers.request_id(request.META, settings.TRUSTED_PROXIES)
        if not callers.resolve(request.META, settings.TRUSTED_PROXIES) and not self.has_warned:
            self.has_warned = True
            log.warning("proxy_not_trusted", address=request.META.get("REMOTE_ADDR"), see="STOREFRONT_TRUSTED_PROXIES")
        return self.get_response(request)


class RequestFrame(Middleware):
    """Sets the request's time, and adds its id to the response and to every log line of the request. An API call skips
    the remaining middleware: every answer to it is JSON (R-CALL-1), and it needs no sessions, messages and CSRF checks,
    which would cost time on every call."""

    def __call__(self, request: Request) -> HttpResponse:
        request.now = clock.now()
        structlog.contextvars.bind_contextvars(request_id=request.id)
        # A shopper, unless a credential or a session identifies somebody else.
        with audit.acting(VISITOR, place=lambda: callers.client_network(request), request_id=request.id):
            response = self._answer(request)
        response["X-Request-Id"] = request.id
        return response

    def _answer(self, request: Request) -> HttpResponse:
        if request.META.get("HTTP_SERVICE_WORKER") == "script":
            # This service has none. A stranger's service worker could intercept all pages of the origin from then on.
            return HttpResponseForbidden("There are no service workers here.", content_type="text/plain")
        return frame.answer(request) if frame.is_api(request) else self.get_response(request)


class ValidHost(Middleware):
    """Refuses a page request with an invalid `Host` header, before its shop is looked up. The API ignores the host."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            request.get_host()
        except DisallowedHost:
            return HttpResponse(rejection_page(BROKEN), status=400, headers={"Content-Security-Policy": POLICY})
        return self.get_response(request)

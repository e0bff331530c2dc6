"""The first checks of a request: its id and the visitor's address behind proxies, and a valid host."""

from collections.abc import Callable

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from storefront.kit import callers
from storefront.server.gate.rejections import BROKEN, POLICY, rejection_page
from storefront.shops.request import Request

log = structlog.get_logger(__name__)

Next = Callable[[HttpRequest], HttpResponse]


class VisitorAddress:
    """Sets the request's id and the visitor's address from headers of trusted proxies (`kit/callers.py`). If a proxy
    that is not trusted sends such headers, it logs a warning, once: most often a setting is missing."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        self.has_warned = False

    def __call__(self, request: Request) -> HttpResponse:
        request.id = callers.request_id(request.META, settings.TRUSTED_PROXIES)
        if not callers.resolve(request.META, settings.TRUSTED_PROXIES) and not self.has_warned:
            self.has_warned = True
            log.warning("proxy_not_trusted", address=request.META.get("REMOTE_ADDR"), see="STOREFRONT_TRUSTED_PROXIES")
        return self.get_response(request)


class ValidHost:
    """Refuses a page request with an invalid `Host` header, before its shop is looked up. The API ignores the host."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            request.get_host()
        except DisallowedHost:
            return HttpResponse(rejection_page(BROKEN), status=400, headers={"Content-Security-Policy": POLICY})
        return self.get_response(request)

"""The page of a shop that the operator has closed (`staff/closing.py`)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from storefront.kit.middleware import Middleware
from storefront.website.errors import closed

# Whoever has paid still gets there: pages of an order, whose URL is a secret of its buyer, and the way back from a
# provider, which records the payment; not the way to the provider. News of providers is no page (`payments/news.py`).
OPEN = {
    *("website:colours", "checkout:confirmation", "checkout:confirmation_blocks", "checkout:order_email"),
    *("checkout:document", "checkout:download", "checkout:payment_return"),
}


class ClosedShop(Middleware):
    """Middleware: instead of all pages of a closed shop, everybody sees that it is closed, with the status 410, after
    which search engines forget them."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: Any, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        if match.namespace not in ("website", "checkout") or match.view_name in OPEN:
            return None
        return None if not request.shop or request.shop.is_active else never_cache(closed)(request)

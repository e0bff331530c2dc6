from django.http import HttpResponse

from storefront.kit.middleware import Middleware
from storefront.shops import positions
from storefront.shops.request import Request


class StaffPositions(Middleware):
    """After a write of signed-in staff, no replica shows the shop that has not replayed it."""

    def __call__(self, request: Request) -> HttpResponse:
        response = self.get_response(request)
        if request.method not in ("GET", "HEAD", "OPTIONS") and request.user.is_authenticated and request.shop:
            positions.record_write(request.shop.pk)
        return response

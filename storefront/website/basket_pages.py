"""The visitor's basket: seen, filled and changed."""

from django.http import HttpResponse

from storefront.shops.request import Request
from storefront.website import pages


def basket(request: Request) -> HttpResponse:
    return pages.home(request)


def add(request: Request) -> HttpResponse:
    return pages.home(request)


def update(request: Request) -> HttpResponse:
    return pages.home(request)

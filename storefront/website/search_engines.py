"""What search engines ask for: robots.txt and the sitemap."""

from django.http import HttpResponse

from storefront.shops.request import Request
from storefront.website import pages


def robots(request: Request) -> HttpResponse:
    return pages.home(request)


def sitemap(request: Request) -> HttpResponse:
    return pages.home(request)


def sitemap_part(request: Request, number: int) -> HttpResponse:
    return pages.home(request)

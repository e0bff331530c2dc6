"""The shop's public pages: home, listing, category, product."""

from django.http import Http404, HttpResponse
from django.shortcuts import render

from storefront.shops.request import Request


def home(request: Request) -> HttpResponse:
    if not request.shop:
        raise Http404
    return render(request, "website/base.html", {})


def listing(request: Request) -> HttpResponse:
    return home(request)


def product(request: Request, slug: str) -> HttpResponse:
    return home(request)


def category(request: Request, slug: str) -> HttpResponse:
    return home(request)

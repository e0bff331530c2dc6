"""A shopper's browser across several hosts: it follows redirects and keeps each host's cookies apart."""

from typing import Any
from urllib.parse import urlsplit

from django.http import HttpResponse
from django.test import Client

from storefront.shops.models import Shop
from tests.customers.factories import PASSWORD

SECURE, ADMIN = "secure.example.com", "admin.example.com"
MAX_HOPS = 10


class Walker:
    """`walker.open("/basket")` is a page of the shop's host, `walker.secure("/checkout")` one of its secure pages.
    `walker.url` is the last URL, and `walker.way` lists all redirects to it."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.browsers: dict[str, Client] = {}
        self.url, self.way = "", []

    def browser(self, host: str) -> Client:
        return self.browsers.setdefault(host, Client(headers={"host": host}))

    def ask(self, url: str, fields: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        """The response to one request, without following redirects."""
        parts = urlsplit(url)
        browser, given = self.browser(parts.netloc), {"QUERY_STRING": parts.query, "headers": headers}
        return browser.get(parts.path, **given) if fields is None else browser.post(parts.path, fields, **given)

    def go(self, url: str, fields: dict[str, Any] | None = None) -> HttpResponse:
        """The page at the end of all redirects."""
        self.way = []
        for _ in range(MAX_HOPS):
            self.url = url
            answer = self.ask(url, fields)
            if answer.status_code not in (301, 302, 303):
                return answer
            there = answer["Location"]
            url = there if "://" in there else f"{url.partition('://')[0]}://{urlsplit(url).netloc}{there}"
            self.way.append(url)
            fields = None
        raise AssertionError(f"it never ends: {self.way}")

    def open(self, path: str, fields: dict[str, Any] | None = None) -> HttpResponse:
        return self.go(f"https://{self.shop.domain}{path}", fields)

    def secure(self, path: str, fields: dict[str, Any] | None = None) -> HttpResponse:
        return self.go(f"http://{SECURE}/{self.shop.domain}{path}", fields)

    def add(self, product: Any) -> HttpResponse:
        return self.open("/basket/add", {"product": product.pk, "qty": "1"})

    def sign_in(self, email: str = "ada@example.com") -> HttpResponse:
        answer = self.secure("/account/sign-in", {"email": email, "password": PASSWORD})
        assert (answer.status_code, urlsplit(self.url).path) == (200, f"/{self.shop.domain}/account"), self.url
        return answer

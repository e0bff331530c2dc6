"""A shopper with a browser, who goes through the shop's checkout form by form."""

import re
from html import unescape
from typing import Any

from django.http import HttpResponse
from django.test import Client

from storefront.shops.models import Shop
from tests.addresses import ADDRESS
from tests.client import ApiClient
from tests.customers.factories import PASSWORD

PAYS, DECLINED, NO_FUNDS = "4242 4242 4242 4242", "4000 0000 0000 0002", "4000 0000 0000 9995"


class Shopper:
    def __init__(self, shop: Shop, *, shows_errors: bool = True) -> None:
        self.shop = shop
        self.browser = Client(raise_request_exception=shows_errors, headers={"host": shop.domain})

    def get(self, path: str, **given: Any) -> HttpResponse:
        return self.browser.get(path, **given)

    def read(self, path: str) -> str:
        """The text of this page, which must respond with 200."""
        answer = self.get(path)
        assert answer.status_code == 200, answer
        return answer.content.decode()

    def post(self, path: str, fields: dict[str, Any], **given: Any) -> HttpResponse:
        return self.browser.post(path, fields, **given)

    def sign_in(self, email: str = "ada@example.com", password: str = PASSWORD) -> HttpResponse:
        answer = self.post("/account/sign-in", {"email": email, "password": password})
        assert answer.status_code == 303, answer.content
        return answer

    def follow(self, url: str, method: str = "get") -> HttpResponse:
        """Open a checkout link, byte by byte as it is."""
        path, _, query = url.removeprefix(self.shop.base_url).partition("?")
        return getattr(self.browser, method)(path, QUERY_STRING=query)

    def bring(self, api: ApiClient, *lines: dict[str, Any]) -> str:
        """Fill a cart as an integration and follow its checkout link. Returns the cart's token."""
        token = fill_cart(api, *lines)
        self.arrive(link_to(api, token))
        return token

    def arrive(self, url: str) -> HttpResponse:
        """Follow a checkout link to the first step of the checkout."""
        answer = self.follow(url)
        assert answer.status_code == 303, answer.content
        return self.get(answer["Location"])

    def fill_details(self, **changed: str) -> HttpResponse:
        return self.post("/checkout", details(**changed))

    def choose_delivery(self, name: str = "-") -> HttpResponse:
        return self.post("/checkout/delivery", {"delivery": name})

    def payment_fields(self, method: str = "manual", page: HttpResponse | None = None, **given: str) -> dict[str, str]:
        """The fields of this payment form, or else of the current one, filled in."""
        page = page or self.get("/checkout/payment")
        assert page.status_code == 200, page
        hidden = {name: hidden_value(page, name) for name in ("checkout", "shown")}
        card = {"number": PAYS, "expiry": "12/34", "cvc": "123"} if method == "demo" else {}
        return {"method": method, "note": "", **hidden, **card, **given}

    def order(self, method: str = "manual", **given: str) -> HttpResponse:
        """Go through the whole checkout with the current basket and place the order."""
        assert self.fill_details().status_code == 303
        return self.post("/checkout/payment", self.payment_fields(method, **given))


def details(**changed: str) -> dict[str, str]:
    """The form of the checkout's first page, filled in."""
    address = {f"shipping-{name}": value for name, value in ADDRESS.items()}
    return {"email": "ada@example.com", "phone": "", "same": "on", **address} | changed


def fill_cart(api: ApiClient, *lines: dict[str, Any]) -> str:
    token = None
    for line in lines:
        answer = api.post("/cart", {"qty": 1} | line, cart=token)
        assert answer.status_code == 201, answer.content
        token = answer.json()["cart_token"]
    return token


def link_to(api: ApiClient, token: str) -> str:
    answer = api.post("/cart/checkout", cart=token)
    assert answer.status_code == 200, answer.content
    return answer.json()["checkout_url"]


def hidden_value(page: HttpResponse, name: str) -> str:
    return unescape(re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1])


def twin_of(shopper: Shopper) -> Shopper:
    """Another tab of the same browser."""
    tab = Shopper(shopper.shop)
    tab.browser.cookies = shopper.browser.cookies
    return tab


def in_basket(shopper: Shopper) -> dict[str, int]:
    return {entry["line"].name_snapshot: entry["line"].qty for entry in shopper.get("/basket").context["lines"]}

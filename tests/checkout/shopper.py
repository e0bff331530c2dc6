"""A shopper with a browser: goes through the shop's checkout as people do, form by form."""

import re
from html import unescape
from typing import Any

from django.http import HttpResponse
from django.test import Client

from storefront.shops.models import Shop
from tests.client import ApiClient
from tests.customers.factories import PASSWORD

ADDRESS = {
    "name": "Ada Lovelace",
    "company": "",
    "line1": "12 St James's Square",
    "line2": "",
    "postal_code": "10115",
    "city": "Berlin",
    "region": "",
    "country": "DE",
}
PAYS, DECLINED, NO_FUNDS = "4242 4242 4242 4242", "4000 0000 0000 0002", "4000 0000 0000 9995"


class Shopper:
    def __init__(self, shop: Shop, *, shows_errors: bool = True) -> None:
        self.shop = shop
        self.browser = Client(raise_request_exception=shows_errors, headers={"host": shop.domain})

    def get(self, path: str, **given: Any) -> HttpResponse:
        return self.browser.get(path, **given)

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
        """Have an integration fill a cart, and follow its link; the cart's token."""
        token = fill_cart(api, *lines)
        answer = self.follow(link_to(api, token))
        assert answer.status_code == 303, answer.content
        return token

    def fill_details(self, **changed: str) -> HttpResponse:
        return self.post("/checkout", details(**changed))

    def choose_delivery(self, name: str = "-") -> HttpResponse:
        return self.post("/checkout/delivery", {"delivery": name})

    def payment_fields(self, method: str = "manual", **given: str) -> dict[str, str]:
        """The payment form as the page shows it now, filled in."""
        page = self.get("/checkout/payment")
        assert page.status_code == 200, page
        hidden = {name: hidden_value(page, name) for name in ("checkout", "total")}
        card = {"number": PAYS, "expiry": "12/34", "cvc": "123"} if method == "demo" else {}
        return {"method": method, "note": "", **hidden, **card, **given}

    def order(self, method: str = "manual", **given: str) -> HttpResponse:
        """Go through the whole checkout with what is in the basket and place the order."""
        assert self.fill_details().status_code == 303
        return self.post("/checkout/payment", self.payment_fields(method, **given))


def details(**changed: str) -> dict[str, str]:
    """The first page of the checkout, filled in."""
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

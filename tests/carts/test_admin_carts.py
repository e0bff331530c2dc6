"""Carts in the admin: read-only, and without tokens."""

import pytest

from storefront.carts.models import Cart
from storefront.kit import tokens
from tests.carts.factories import filled
from tests.catalogue.factories import make_product
from tests.staff import admin_url


@pytest.fixture
def role() -> str:
    return "manager"


def test_a_cart_shows_its_lines_and_sums(desk, shop, api):
    filled(api, make_product(shop, "Mug", price="9.50"), 3)
    cart = Cart.objects.get()
    page = desk.page(cart).content.decode()
    for text in ("Mug", "€9.50", "€28.50", "Active"):
        assert text in page
    assert "€28.50" in desk.get(admin_url(Cart, "changelist")).content.decode()


def test_shows_neither_token_nor_digest(desk, shop, api):
    token = filled(api, make_product(shop, "Mug"))
    cart = Cart.objects.get()
    for page in (desk.page(cart), desk.page(cart, "history"), desk.get(admin_url(Cart, "changelist"))):
        assert token not in page.content.decode()
        assert tokens.digest(token) not in page.content.decode()


def test_carts_are_read_only(desk, shop, api):
    filled(api, make_product(shop, "Mug"))
    cart = Cart.objects.get()
    assert desk.post(admin_url(cart, "change"), {"expires_at": ""}).status_code == 403
    assert desk.post(admin_url(cart, "delete"), {"post": "yes"}).status_code == 403
    assert desk.get(admin_url(Cart, "add")).status_code == 403
    assert Cart.objects.get().lines.count() == 1

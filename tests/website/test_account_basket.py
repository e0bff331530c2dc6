"""A customer's basket: merged at sign-in, the same on every device, and kept at sign-out."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import LIFETIME, Cart, CartLine
from storefront.kit import clock
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to
from tests.customers.factories import make_customer


@pytest.fixture
def shopper(shop, ada) -> Shopper:
    return Shopper(shop)


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=5)


def put(shopper: Shopper, product, qty: int = 1) -> None:
    assert shopper.post("/basket/add", {"product": product.pk, "qty": qty}).status_code == 302


def pieces(shopper: Shopper) -> dict[str, int]:
    """Names and quantities on the basket page."""
    lines = shopper.get("/basket").context["lines"]
    return {entry["line"].name_snapshot: entry["line"].qty for entry in lines}


def test_the_visitors_basket_becomes_the_customers_at_sign_in(shop, shopper, mug, ada):
    put(shopper, mug, 2)
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 2}
    assert {cart.customer for cart in Cart.objects.filter(lines__isnull=False)} == {ada}


def test_quantities_of_both_baskets_add_up_to_the_stock(shop, shopper, mug):
    pot = make_product(shop, "Pot")
    shopper.sign_in()
    put(shopper, mug, 3)
    visitor = Shopper(shop)
    put(visitor, mug, 4)
    put(visitor, pot)
    visitor.sign_in()
    assert pieces(visitor) == pieces(shopper) == {"Mug": 5, "Pot": 1}


class TestTheNextPageSays:
    @pytest.fixture
    def waiting(self, shop, shopper, mug) -> None:
        """Ada's own basket, filled on another device."""
        phone = Shopper(shop)
        phone.sign_in()
        put(phone, mug, 3)

    def test_what_was_added_and_what_did_not_fit(self, shop, shopper, mug, waiting):
        put(shopper, mug, 4)
        put(shopper, make_product(shop, "Pot"))
        page = shopper.read(shopper.sign_in()["Location"])
        assert "The items you chose before were added to your basket:" in page
        assert "<li>2 × Mug</li><li>1 × Pot</li>" in page
        assert "These items could not all be added, because stock is low or your basket is full:" in page
        assert "<li>Mug: 2 of 4</li>" in page

    def test_it_only_once(self, shopper, mug, waiting):
        put(shopper, mug, 4)
        shopper.sign_in()
        shopper.browser.head("/")
        assert "Mug: 2 of 4" in shopper.read("/")
        assert "Mug: 2 of 4" not in shopper.read("/")

    def test_nothing_if_the_customers_basket_was_empty(self, shopper, mug):
        put(shopper, mug, 2)
        assert "added to your basket" not in shopper.read(shopper.sign_in()["Location"])

    def test_what_a_link_added_on_the_checkout_only(self, api, shop, shopper, mug, waiting):
        token = fill_cart(api, {"product_id": mug.pk, "qty": 4})
        shopper.arrive(link_to(api, token))
        shopper.sign_in()
        page = shopper.read("/checkout")
        assert page.count("Mug: 2 of 4") == 1
        assert "you chose before" not in page


def test_signing_in_again_adds_nothing_twice(shopper, mug):
    put(shopper, mug)
    shopper.sign_in()
    shopper.post("/account/sign-out", {})
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 1}


def test_all_devices_show_the_same_basket(shop, shopper, mug):
    shopper.sign_in()
    put(shopper, mug)
    phone = Shopper(shop)
    phone.sign_in()
    assert pieces(phone) == {"Mug": 1}
    put(phone, mug)
    assert pieces(shopper) == {"Mug": 2}
    assert Cart.objects.count() == 1


def test_signing_out_empties_the_browser_and_keeps_the_customers_basket(shopper, mug):
    shopper.sign_in()
    put(shopper, mug)
    shopper.post("/account/sign-out", {})
    assert pieces(shopper) == {}
    put(shopper, mug)
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 2}


def test_a_session_cannot_open_a_customers_basket_by_its_id(shop, shopper, mug, ada):
    other = Shopper(shop)
    other.sign_in()
    put(other, mug)
    put(shopper, mug)
    session = shopper.browser.session
    session["baskets"] = {str(shop.pk): str(Cart.objects.get(customer=ada).public_id)}
    session.save()
    assert pieces(shopper) == {}


def test_a_checkout_link_adds_to_the_customers_basket(api, shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug)
    token = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    link = link_to(api, token)
    for _ in range(2):
        shopper.arrive(link)
    assert pieces(shopper) == {"Mug": 3}
    assert [item["qty"] for item in api.get("/cart", cart=token).json()["data"]["items"]] == [2]


def test_a_cart_from_a_link_is_merged_at_sign_in_without_its_token(api, shopper, mug):
    token = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    shopper.arrive(link_to(api, token))
    shopper.sign_in()
    put(shopper, mug)
    assert pieces(shopper) == {"Mug": 3}
    # The integration keeps its own cart, and never sees the shopper's.
    assert [item["qty"] for item in api.get("/cart", cart=token).json()["data"]["items"]] == [2]


def test_a_customers_basket_has_no_token(shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug)
    assert Cart.objects.get(customer=ada).token_digest is None


def test_baskets_of_two_shops_stay_apart(shop, other_shop, shopper, mug):
    make_customer(other_shop)
    secret = make_product(other_shop, "Secret")
    there = {"headers": {"host": other_shop.domain}}
    shopper.post("/basket/add", {"product": secret.pk, "qty": 1}, **there)
    put(shopper, mug)
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 1}
    elsewhere = shopper.get("/basket", **there).context["lines"]
    assert [entry["line"].name_snapshot for entry in elsewhere] == ["Secret"]
    assert CartLine.objects.filter(cart__customer__isnull=False).count() == 1


def test_a_basket_expires_after_seven_days_without_a_change(shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug, 2)
    with time_machine.travel(clock.now() + LIFETIME + timedelta(minutes=1)):
        assert pieces(shopper) == {}
        put(shopper, mug)
        assert pieces(shopper) == {"Mug": 1}
    assert Cart.objects.filter(customer=ada).count() == 1


def test_an_order_belongs_to_the_customer_and_empties_the_basket(shop, shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug)
    shopper.order()
    assert ada.orders.get().email == "ada@example.com"
    assert pieces(shopper) == {}


def test_a_guest_order_belongs_to_the_customer_who_has_proven_its_address(shop, shopper, mug, ada):
    put(shopper, mug)
    shopper.order()
    assert ada.orders.get().email == "ada@example.com"

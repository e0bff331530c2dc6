"""A signed-in shopper's basket is their own: it comes along, waits on every device, and stays at sign-out."""

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
    """What the basket page shows."""
    lines = shopper.get("/basket").context["lines"]
    return {entry["line"].name_snapshot: entry["line"].qty for entry in lines}


def test_what_was_chosen_before_comes_along(shop, shopper, mug, ada):
    put(shopper, mug, 2)
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 2}
    assert {cart.customer for cart in Cart.objects.filter(lines__isnull=False)} == {ada}


def test_lines_of_both_baskets_add_up_as_far_as_there_is_stock(shop, shopper, mug):
    pot = make_product(shop, "Pot")
    shopper.sign_in()
    put(shopper, mug, 3)
    visitor = Shopper(shop)
    put(visitor, mug, 4)
    put(visitor, pot)
    visitor.sign_in()
    assert pieces(visitor) == pieces(shopper) == {"Mug": 5, "Pot": 1}


def test_signing_in_again_adds_nothing_twice(shopper, mug):
    put(shopper, mug)
    shopper.sign_in()
    shopper.post("/account/sign-out", {})
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 1}


def test_the_same_basket_is_on_another_device(shop, shopper, mug):
    shopper.sign_in()
    put(shopper, mug)
    phone = Shopper(shop)
    phone.sign_in()
    assert pieces(phone) == {"Mug": 1}
    put(phone, mug)
    assert pieces(shopper) == {"Mug": 2}
    assert Cart.objects.count() == 1


def test_after_signing_out_the_browser_is_empty_and_the_basket_waits(shopper, mug):
    shopper.sign_in()
    put(shopper, mug)
    shopper.post("/account/sign-out", {})
    assert pieces(shopper) == {}
    put(shopper, mug)
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 2}


def test_a_basket_left_in_the_session_opens_nothing_of_a_customer(shop, shopper, mug, ada):
    other = Shopper(shop)
    other.sign_in()
    put(other, mug)
    put(shopper, mug)
    session = shopper.browser.session
    session["baskets"] = {str(shop.pk): str(Cart.objects.get(customer=ada).public_id)}
    session.save()
    assert pieces(shopper) == {}


def test_a_checkout_link_goes_into_the_customers_basket(api, shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug)
    token = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    link = link_to(api, token)
    for _ in range(2):
        shopper.follow(link)
    assert pieces(shopper) == {"Mug": 3}
    assert api.get("/cart", cart=token).json()["data"]["items"] == []


def test_a_cart_brought_by_a_link_comes_along_at_sign_in_and_leaves_its_token(api, shopper, mug):
    token = fill_cart(api, {"product_id": mug.pk, "qty": 2})
    shopper.follow(link_to(api, token))
    shopper.sign_in()
    assert pieces(shopper) == {"Mug": 2}
    # The integration goes on with a cart of its own, and never sees the shopper's.
    assert api.get("/cart", cart=token).json()["data"]["items"] == []


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


def test_after_seven_days_without_a_change_it_is_empty_and_begins_anew(shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug, 2)
    with time_machine.travel(clock.now() + LIFETIME + timedelta(minutes=1)):
        assert pieces(shopper) == {}
        put(shopper, mug)
        assert pieces(shopper) == {"Mug": 1}
    assert Cart.objects.filter(customer=ada).count() == 1


def test_an_order_is_the_customers_and_empties_their_basket(shop, shopper, mug, ada):
    shopper.sign_in()
    put(shopper, mug)
    shopper.order()
    assert ada.orders.get().email == "ada@example.com"
    assert pieces(shopper) == {}


def test_a_guests_order_is_nobodys_though_the_address_is_a_customers(shop, shopper, mug, ada):
    put(shopper, mug)
    shopper.order()
    assert not ada.orders.exists()

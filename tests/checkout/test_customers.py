"""The checkout of a signed-in customer."""

import pytest

from tests.catalogue.factories import make_product
from tests.checkout.shopper import details
from tests.customers.factories import add_address, make_customer


@pytest.fixture
def ada(shop):
    return make_customer(shop, name="Ada Lovelace", phone="0431 1")


@pytest.fixture
def shopper(shop, shopper):
    shopper.post("/basket/add", {"product": make_product(shop, "Mug").pk, "qty": 1})
    return shopper


def filled_in(shopper) -> str:
    return shopper.get("/checkout").content.decode()


def test_e_mail_and_default_address_are_filled_in(shopper, ada):
    add_address(ada)
    add_address(ada, city="Plön", phone="0431 2", country="AT", is_default=True)
    shopper.sign_in()
    page = filled_in(shopper)
    for value in ("ada@example.com", "0431 2", "Plön", "24103"):
        assert f'value="{value}"' in page
    assert '<option value="AT" selected>' in page


def test_without_an_address_there_is_what_is_known_of_the_customer(shopper, ada):
    shopper.sign_in()
    page = filled_in(shopper)
    for value in ("ada@example.com", "0431 1", "Ada Lovelace"):
        assert f'value="{value}"' in page


def test_saved_details_come_before_the_default_address(shopper, ada):
    add_address(ada)
    shopper.sign_in()
    shopper.post("/checkout", details(email="work@example.com"))
    assert 'value="work@example.com"' in filled_in(shopper)


def test_an_order_keeps_the_address_it_was_given_and_is_the_customers(shopper, ada):
    add_address(ada, city="Plön")
    shopper.sign_in()
    shopper.order()
    order = ada.orders.get()
    assert order.shipping_address["city"] == "Kiel"


def test_visitor_can_sign_in_and_return(shopper, ada):
    assert 'href="/account/sign-in?next=/checkout"' in filled_in(shopper)
    answer = shopper.post("/account/sign-in", {"email": ada.email, "password": "harbour light 7", "next": "/checkout"})
    assert answer["Location"] == "/checkout"
    assert "/account/sign-in?next" not in filled_in(shopper)


def test_another_shops_customer_fills_in_nothing(shop, other_shop, shopper):
    make_customer(other_shop)
    there = {"headers": {"host": other_shop.domain}}
    shopper.post("/account/sign-in", {"email": "ada@example.com", "password": "harbour light 7"}, **there)
    assert "ada@example.com" not in filled_in(shopper)

import pytest

from storefront.carts.actions import reprice_cart
from storefront.carts.models import Cart
from storefront.kit import clock
from tests.carts.factories import add, filled, quantities
from tests.catalogue.factories import make_product


@pytest.fixture
def lamp(shop):
    return make_product(shop, price="40.00", stock_qty=10, damaged_qty=2, damaged_price="25.00", allow_backorders=True)


def test_damaged_units_have_their_own_price_and_line(api, lamp):
    token = filled(api, lamp)
    line = add(api, lamp, is_damaged=True, cart=token).json()["data"]
    assert (line["is_damaged"], line["price_snapshot"]) == (True, "25.00")
    assert list(quantities(api, token).values()) == [1, 1]


def test_refuses_more_than_the_damaged_units_despite_backorders(api, lamp):
    answer = add(api, lamp, 3, is_damaged=True)
    assert (answer.json()["code"], answer.json()["available"]) == ("insufficient_stock", 2)


def test_undamaged_units_do_not_count_as_damaged(api, lamp):
    token = filled(api, lamp, 10)
    assert add(api, lamp, 2, is_damaged=True, cart=token).status_code == 201


def test_damaged_units_without_a_price_of_their_own_are_refused(shop, api):
    lamp = make_product(shop, price="40.00", damaged_qty=1)
    answer = add(api, lamp, is_damaged=True)
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"is_damaged": ["This product has no price for damaged units."]}


def test_damaged_units_whose_price_was_removed_cannot_be_ordered(shop, api, lamp):
    filled(api, lamp, is_damaged=True)
    lamp.damaged_price = None
    lamp.save()
    (change,) = reprice_cart(shop=shop, cart=Cart.objects.get(), now=clock.now()).checks
    assert change.is_unavailable

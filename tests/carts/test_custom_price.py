from decimal import Decimal

import pytest

from tests.carts.factories import add, filled, quantities
from tests.catalogue.factories import make_option, make_product


@pytest.fixture
def gift(shop):
    return make_product(shop, "Gift card", price="20.00", allow_custom_price=True, min_custom_price="5.00")


def test_custom_price_is_the_price(api, gift):
    assert add(api, gift, custom_price="25.00").json()["data"]["price_snapshot"] == "25.00"


def test_minimum_price_is_accepted(api, gift):
    assert add(api, gift, custom_price="5").json()["data"]["price_snapshot"] == "5.00"


def test_option_prices_are_added_to_the_custom_price(api, gift):
    option = make_option(gift, "Wrapping", {"Paper": "1.50"})
    line = add(api, gift, custom_price="25.00", options={str(option.pk): option.values.get().pk}).json()["data"]
    assert line["price_snapshot"] == "26.50"


def test_another_price_makes_another_line(api, gift):
    token = filled(api, gift, custom_price="25.00")
    add(api, gift, custom_price="25", cart=token)
    add(api, gift, custom_price="30.00", cart=token)
    add(api, gift, cart=token)
    assert list(quantities(api, token).values()) == [2, 1, 1]


def test_list_price_applies_without_a_custom_price(api, gift):
    assert add(api, gift).json()["data"]["price_snapshot"] == "20.00"


def test_refuses_a_price_below_the_minimum(api, gift):
    answer = add(api, gift, custom_price="4.99")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_custom_price")
    assert "5.00" in answer.json()["message"]


def test_minimum_applies_without_a_custom_price(shop, api):
    donation = make_product(shop, price="0.00", allow_custom_price=True, min_custom_price="5.00")
    assert add(api, donation).json()["code"] == "invalid_custom_price"


def test_refuses_a_custom_price_that_the_product_does_not_allow(shop, api):
    answer = add(api, make_product(shop), custom_price="25.00")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_custom_price")
    assert "custom_price" in answer.json()["errors"]


@pytest.mark.parametrize("price", [25, 25.0, "25.001", "-25.00", "1e3", "", " 25.00", "٢٥", "9" * 13, "25.00\n"])
def test_a_price_is_a_money_string(api, gift, price):
    answer = add(api, gift, custom_price=price)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["custom_price"])


def test_refuses_a_price_too_large_for_the_column(api, gift):
    option = make_option(gift, "Wrapping", {"Paper": "1.50"})
    chosen = {str(option.pk): option.values.get().pk}
    answer = add(api, gift, custom_price="999999999999.99", options=chosen)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_custom_price")


def test_any_price_is_accepted_without_a_minimum(shop, api):
    anything = make_product(shop, allow_custom_price=True, price=Decimal("3.00"))
    assert add(api, anything, custom_price="0.00").json()["data"]["price_snapshot"] == "0.00"

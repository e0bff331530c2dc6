"""Useless cart tokens, and what is refused."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart
from tests.answers import without_id
from tests.carts.factories import add, filled
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.shops.factories import NOW


@pytest.fixture(params=["unknown", "malformed", "expired"])
def useless(request, shop, api):
    if request.param != "expired":
        return {"unknown": "cart_" + "A" * 43, "malformed": "cart_x"}[request.param]
    with time_machine.travel(NOW - timedelta(days=400)):
        return filled(api, make_product(shop))


@pytest.mark.rule("R-CART-4")
def test_a_useless_token_on_a_read_is_no_error(api, useless):
    answer = api.get("/cart", cart=useless)
    assert (answer.status_code, answer.json()["cart_token"], answer.json()["data"]["items"]) == (200, None, [])


@pytest.mark.rule("R-CART-5")
def test_a_useless_token_on_an_add_is_no_token_and_a_new_cart_is_created(shop, api, useless):
    answer = add(api, make_product(shop), cart=useless)
    assert answer.status_code == 201
    assert answer.json()["cart_token"] != useless


@pytest.mark.rule("R-CART-6")
def test_a_useless_token_on_emptying_makes_a_new_empty_cart(api, useless):
    token = api.delete("/cart", cart=useless).json()["cart_token"]
    assert token != useless
    assert api.get("/cart", cart=token).json()["cart_token"] == token


@pytest.mark.rule("R-CART-7")
def test_a_useless_token_on_a_line_is_a_404_and_nothing_is_made(shop, api, useless):
    before = Cart.objects.count()
    for answer in (api.patch("/cart/p1", {"qty": 1}, cart=useless), api.delete("/cart/p1", cart=useless)):
        assert (answer.status_code, answer.json()["code"]) == (404, "line_not_found")
    assert Cart.objects.count() == before


@pytest.mark.rule("R-CART-25")
def test_an_add_of_an_unpublished_or_draft_product_is_refused(shop, api):
    for state in ({"status": "draft"}, {"unpublish_at": NOW - timedelta(days=400)}):
        assert add(api, make_product(shop, **state)).json()["code"] == "product_unavailable"


@pytest.mark.rule("R-CART-31")
def test_an_add_beyond_stock_is_refused_when_backorders_are_not_allowed(shop, api):
    assert add(api, make_product(shop, stock_qty=1), 2).json()["code"] == "insufficient_stock"
    assert add(api, make_product(shop, stock_qty=1, allow_backorders=True), 2).status_code == 201


@pytest.mark.rule("R-CART-26")
def test_an_add_whose_required_option_is_not_chosen_is_refused_and_names_the_option(shop, api):
    mug = make_product(shop)
    make_option(mug, "Engraving", required=True)
    assert "Engraving" in add(api, mug).json()["message"]


@pytest.mark.rule("R-ERR-1", "R-ERR-9")
def test_every_refusal_is_a_422_with_message_and_code(shop, api):
    shirt, mug = make_product(shop), make_product(shop)
    make_variant(shirt)
    refused = {
        "product_unavailable": add(api, make_product(shop, status="draft")),
        "subscription_not_sold": add(api, make_product(shop, billing_interval="month")),
        "insufficient_stock": add(api, mug, 99),
        "variant_required": add(api, shirt),
        "invalid_option": add(api, mug, options={"1": 1}),
        "invalid_custom_price": add(api, mug, custom_price="5.00"),
    }
    for code, answer in refused.items():
        assert (answer.status_code, answer.json()["code"]) == (422, code)
        assert answer.json()["message"].endswith(".")


@pytest.mark.rule("R-CART-25")
def test_the_error_of_another_shops_product_tells_nothing(shop, other_shop, api):
    theirs = add(api, make_product(other_shop, stock_qty=0), 5)
    unknown = api.post("/cart", {"product_id": 999_999, "qty": 5})
    assert without_id(theirs) == without_id(unknown)

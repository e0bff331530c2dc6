"""From no cart to a cart, to an expired one."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart
from tests.carts.factories import add, contents, filled
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

UNKNOWN = "cart_" + "A" * 43
ZEROS = dict.fromkeys(["subtotal", "shipping", "tax", "discount", "total", "amount_due"], "0.00")
ENTERED = {"discount_codes": [], "gift_cards": [], "problems": []}
EMPTY = ZEROS | {"item_count": 0, "line_count": 0, "tax_included": True}
NOTHING = {"items": [], "totals": EMPTY, "orders": [], **ENTERED}
NO_CART = {"cart_token": None, "data": NOTHING}


@pytest.mark.rule("R-CART-4")
@pytest.mark.parametrize("token", [None, UNKNOWN, "malformed"])
def test_a_read_without_a_usable_token_is_an_empty_cart_and_nothing_is_created(api, token):
    answer = api.get("/cart", cart=token)
    assert (answer.status_code, answer.json()) == (200, NO_CART)
    assert not Cart.objects.exists()


@pytest.mark.rule("R-CART-5")
@pytest.mark.parametrize("token", [None, UNKNOWN, "malformed"])
def test_an_add_that_succeeds_without_a_usable_token_mints_one(shop, api, token):
    minted = add(api, make_product(shop), cart=token).json()["cart_token"]
    assert minted not in (None, token)
    assert api.get("/cart", cart=minted).json()["cart_token"] == minted


@pytest.mark.rule("R-CART-5")
def test_an_add_that_fails_without_a_usable_token_makes_no_cart(shop, api):
    assert add(api, make_product(shop, status="draft")).status_code == 422
    assert not Cart.objects.exists()


@pytest.mark.rule("R-CART-8")
@pytest.mark.parametrize("write", ["post", "patch", "delete line", "delete"])
def test_any_write_resets_expiry_to_seven_days_from_this_write(shop, api, write):
    mug = make_product(shop)
    with time_machine.travel(NOW, tick=False):
        token = filled(api, mug)
    with time_machine.travel(NOW + timedelta(days=6), tick=False):
        if write == "post":
            add(api, mug, cart=token)
        elif write == "patch":
            api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token)
        elif write == "delete line":
            api.delete(f"/cart/p{mug.pk}", cart=token)
        else:
            api.delete("/cart", cart=token)
    for days, found in ((13, None), (12.99, token)):
        with time_machine.travel(NOW + timedelta(days=days), tick=False):
            assert api.get("/cart", cart=token).json()["cart_token"] == found


@pytest.mark.rule("R-CART-8")
def test_after_seven_days_with_no_write_a_token_behaves_exactly_like_an_unknown_one(shop, api):
    with time_machine.travel(NOW, tick=False):
        token = filled(api, make_product(shop))
    with time_machine.travel(NOW + timedelta(days=7), tick=False):
        answer = api.get("/cart", cart=token)
    assert (answer.status_code, answer.json()) == (200, NO_CART)


@pytest.mark.rule("R-CART-14")
def test_deleting_a_key_removes_that_one_line(shop, api):
    mug, plate = make_product(shop), make_product(shop)
    token = filled(api, mug)
    add(api, plate, cart=token)
    assert api.delete(f"/cart/p{mug.pk}", cart=token).status_code == 200
    assert [item["product_id"] for item in contents(api, token)["items"]] == [plate.pk]


@pytest.mark.rule("R-CART-14")
def test_deleting_the_cart_removes_every_line_and_the_cart_still_exists(shop, api):
    token = filled(api, make_product(shop))
    add(api, make_product(shop), cart=token)
    api.delete("/cart", cart=token)
    body = api.get("/cart", cart=token).json()
    assert (body["cart_token"], body["data"]["items"]) == (token, [])


@pytest.mark.rule("R-CART-4")
def test_a_token_the_service_did_not_issue_is_treated_as_no_token_at_all(shop, api):
    assert api.get("/cart", cart=UNKNOWN).json() == NO_CART
    assert api.patch("/cart/p1", {"qty": 1}, cart=UNKNOWN).status_code == 404
    assert add(api, make_product(shop), cart=UNKNOWN).json()["cart_token"] != UNKNOWN

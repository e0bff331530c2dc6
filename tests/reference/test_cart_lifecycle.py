"""From no cart to a cart, to an expired one: which cart a token names, and how much it holds."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart, CartLine
from tests.answers import without_id
from tests.carts.factories import add, contents, filled
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.shops.factories import NOW, make_token

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


@pytest.mark.rule("R-CART-8")
def test_a_cart_lives_seven_days_from_the_last_write(shop, api):
    with time_machine.travel(NOW, tick=False):
        token = filled(api, make_product(shop))
    with time_machine.travel(NOW + timedelta(days=7, seconds=-1), tick=False):
        assert api.get("/cart", cart=token).json()["cart_token"] == token
    with time_machine.travel(NOW + timedelta(days=7), tick=False):
        assert api.get("/cart", cart=token).json()["cart_token"] is None


@pytest.mark.rule("R-LIM-5")
def test_a_cart_holds_200_lines(shop, api):
    rice = make_product(shop, track_inventory=False)
    token = filled(api, rice)
    CartLine.objects.bulk_create(
        CartLine(shop=shop, cart=Cart.objects.get(), key=f"k{n}", product=rice, qty=1, name_snapshot="", created_at=NOW)
        for n in range(198)
    )
    assert add(api, make_product(shop), cart=token).status_code == 201
    answer = add(api, make_product(shop), cart=token)
    assert (answer.status_code, answer.json()["code"]) == (422, "cart_too_large")
    assert add(api, rice, cart=token).status_code == 201
    assert Cart.objects.get().lines.count() == 200


@pytest.mark.rule("R-LIM-5")
def test_a_line_holds_1_to_9999_pieces(shop, api):
    rice = make_product(shop, track_inventory=False)
    assert [add(api, rice, qty).status_code for qty in (0, 1, 9_999, 10_000)] == [422, 201, 201, 422]


@pytest.mark.rule("R-LIM-6")
def test_a_line_takes_20_custom_fields(shop, api):
    field = {"name": "To", "value": "Ada"}
    mug = make_product(shop)
    assert [add(api, mug, custom_fields=[field] * n).status_code for n in (20, 21)] == [201, 422]


@pytest.mark.rule("R-CART-2")
def test_the_cart_token_alone_names_the_cart(shop, api):
    first, second = filled(api, make_product(shop), 1), filled(api, make_product(shop), 2)
    assert contents(api, first)["totals"]["item_count"] == 1
    assert contents(api, second)["totals"]["item_count"] == 2


@pytest.mark.rule("R-CART-2")
def test_the_basket_is_named_by_a_cart_token_not_by_a_session(shop, api):
    answer = add(api, make_product(shop))
    assert not answer.cookies
    # The same client once more: whatever it keeps between calls names no basket.
    assert api.get("/cart").json()["cart_token"] is None


@pytest.mark.rule("R-CART-2")
def test_the_cart_token_is_enough_on_its_own_to_read_and_change_it(shop, api):
    """Like a session id: whichever of the shop's credentials it comes with."""
    mug = make_product(shop)
    token = filled(api, mug)
    another = ApiClient(make_token(shop, "read_cart", "write_cart"))
    assert contents(another, token)["totals"]["item_count"] == 1
    assert add(another, mug, cart=token).json()["cart_token"] == token
    assert another.patch(f"/cart/p{mug.pk}", {"qty": 5}, cart=token).status_code == 200
    assert contents(api, token)["totals"]["item_count"] == 5


@pytest.mark.rule("R-CART-2", "R-CART-4")
def test_a_cart_token_opens_nothing_in_another_shop(shop, api, other_api):
    token = filled(api, make_product(shop))
    assert other_api.get("/cart", cart=token).json()["cart_token"] is None


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
def test_the_error_of_another_shops_product_tells_nothing(shop, other_shop, api):
    theirs = add(api, make_product(other_shop, stock_qty=0), 5)
    unknown = api.post("/cart", {"product_id": 999_999, "qty": 5})
    assert without_id(theirs) == without_id(unknown)

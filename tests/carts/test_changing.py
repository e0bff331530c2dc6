import pytest

from storefront.carts.models import Cart
from tests.carts.factories import add, contents, filled, quantities
from tests.catalogue.factories import make_product


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50")


@pytest.fixture
def token(api, mug):
    return filled(api, mug, 2)


def test_change_sets_the_quantity_and_returns_the_cart(api, mug, token):
    answer = api.patch(f"/cart/p{mug.pk}", {"qty": 4}, cart=token)
    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == ["message", "cart_token", "data"]
    assert body["cart_token"] == token
    assert body["data"] == contents(api, token)
    assert (body["data"]["items"][0]["qty"], body["data"]["totals"]["total"]) == (4, "38.00")


def test_zero_removes_the_line(api, mug, token):
    body = api.patch(f"/cart/p{mug.pk}", {"qty": 0}, cart=token).json()
    assert body["data"]["items"] == []
    assert quantities(api, token) == {}


@pytest.mark.rule("R-CART-13")
def test_a_change_keeps_the_price_the_line_was_added_at(api, mug, token):
    mug.price = "11.00"
    mug.save()
    body = api.patch(f"/cart/p{mug.pk}", {"qty": 3}, cart=token).json()
    assert body["data"]["items"][0]["price_snapshot"] == "9.50"


def test_removing_deletes_one_line(shop, api, mug, token):
    plate = make_product(shop)
    add(api, plate, cart=token)
    answer = api.delete(f"/cart/p{mug.pk}", cart=token)
    assert (answer.status_code, answer.json()["cart_token"]) == (200, token)
    assert answer.json()["data"] == contents(api, token)
    assert quantities(api, token) == {f"p{plate.pk}": 1}


def test_emptying_deletes_all_lines_and_keeps_the_cart(shop, api, token):
    add(api, make_product(shop), cart=token)
    answer = api.delete("/cart", cart=token)
    assert (answer.status_code, answer.json()["cart_token"]) == (200, token)
    assert answer.json()["data"]["items"] == []
    assert api.get("/cart", cart=token).json()["cart_token"] == token


def test_emptying_without_a_cart_creates_an_empty_one(api):
    token = api.delete("/cart").json()["cart_token"]
    assert api.get("/cart", cart=token).json()["cart_token"] == token


@pytest.mark.parametrize("key", ["p999999", "nonsense", "p1-v2", "ä" * 200])
def test_an_unknown_key_is_a_404(api, token, key):
    for answer in (api.patch(f"/cart/{key}", {"qty": 1}, cart=token), api.delete(f"/cart/{key}", cart=token)):
        assert (answer.status_code, answer.json()["code"]) == (404, "line_not_found")


def test_a_line_of_another_cart_is_not_found(shop, api, token):
    plate = make_product(shop)
    filled(api, plate)
    assert api.delete(f"/cart/p{plate.pk}", cart=token).status_code == 404


def test_change_without_a_cart_is_a_404_and_creates_none(api, mug):
    for answer in (api.patch(f"/cart/p{mug.pk}", {"qty": 1}), api.delete(f"/cart/p{mug.pk}")):
        assert (answer.status_code, answer.json()["code"]) == (404, "line_not_found")
    assert not Cart.objects.exists()

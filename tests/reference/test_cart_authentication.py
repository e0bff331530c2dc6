"""Who opens a cart: scopes, and the cart token."""

import pytest

from tests.carts.factories import add, contents, filled
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.shops.factories import make_token

# The writes, and what each answers without a cart token.
ANSWERS = {("post", "/cart"): 201, ("patch", "/cart/p1"): 404, ("delete", "/cart/p1"): 404, ("delete", "/cart"): 200}
WRITES = list(ANSWERS)


@pytest.mark.rule("R-CART-1")
def test_read_cart_is_for_get(shop):
    assert ApiClient(make_token(shop, "read_cart")).get("/cart").status_code == 200
    answer = ApiClient(make_token(shop, "write_cart")).get("/cart")
    assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["read_cart"])


@pytest.mark.rule("R-CART-1")
@pytest.mark.parametrize(("method", "path"), WRITES)
def test_write_cart_is_for_changes(shop, method, path):
    body = None if method == "delete" else {"product_id": make_product(shop).pk, "qty": 1}
    refused = ApiClient(make_token(shop, "read_cart")).call(method, path, body)
    assert (refused.status_code, refused.json()["required_scopes"]) == (403, ["write_cart"])
    assert ApiClient(make_token(shop, "write_cart")).call(method, path, body).status_code == ANSWERS[method, path]


@pytest.mark.rule("R-CART-1")
@pytest.mark.parametrize(("method", "path"), [("get", "/cart"), *WRITES])
def test_no_call_without_a_credential(stranger, method, path):
    assert stranger.call(method, path).status_code == 401


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


@pytest.mark.rule("R-CART-2")
def test_a_cart_token_is_worth_nothing_without_a_credential(shop, api, stranger):
    assert stranger.get("/cart", cart=filled(api, make_product(shop))).status_code == 401


@pytest.mark.rule("R-CART-2", "R-CART-4")
def test_a_cart_token_opens_nothing_in_another_shop(shop, api, other_api):
    token = filled(api, make_product(shop))
    assert other_api.get("/cart", cart=token).json()["cart_token"] is None

import hashlib
import re

import pytest

from storefront.carts.models import Cart
from tests.carts.factories import add, contents, filled, make_cart, make_customer, quantities
from tests.catalogue.factories import make_product

EMPTY = {
    "items": [],
    "totals": {
        "subtotal": "0.00",
        "shipping": "0.00",
        "tax": "0.00",
        "discount": "0.00",
        "total": "0.00",
        "amount_due": "0.00",
        "item_count": 0,
        "line_count": 0,
        "tax_included": True,
    },
    "orders": [],
    "discount_codes": [],
    "gift_cards": [],
    "problems": [],
}
UNKNOWN = "cart_" + "A" * 43


def test_a_token_is_256_random_bits_behind_a_prefix(shop, api):
    mug = make_product(shop)
    first, second = filled(api, mug), filled(api, mug)
    assert re.fullmatch(r"cart_[A-Za-z0-9_-]{43}", first)
    assert first != second


def test_only_the_digest_of_a_token_is_stored(shop, api):
    token = filled(api, make_product(shop))
    assert Cart.objects.get().token_digest == hashlib.sha256(token.encode()).hexdigest()


@pytest.mark.parametrize("token", [UNKNOWN, "nonsense", "cart_", "cart_ä", "api_" + "A" * 43, "x" * 5_000])
def test_unknown_token_reads_as_an_empty_cart(shop, api, token):
    answer = api.get("/cart", cart=token)
    assert (answer.status_code, answer.json()) == (200, {"cart_token": None, "data": EMPTY})
    assert not Cart.objects.exists()


def test_malformed_token_does_not_query_the_cart_table(api, django_assert_num_queries):
    with django_assert_num_queries(1):
        answer = api.get("/cart", cart="nonsense")
    assert (answer.status_code, answer.json()) == (200, {"cart_token": None, "data": EMPTY})


@pytest.mark.parametrize("token", [UNKNOWN, "nonsense"])
def test_adding_with_an_unknown_token_creates_a_new_cart(shop, api, token):
    answer = add(api, make_product(shop), cart=token)
    assert answer.status_code == 201
    assert answer.json()["cart_token"] != token


def test_a_token_of_another_shop_is_an_unknown_one(shop, api, other_shop, other_api):
    token = filled(api, make_product(shop))
    assert other_api.get("/cart", cart=token).json() == {"cart_token": None, "data": EMPTY}
    answer = add(other_api, make_product(other_shop), cart=token)
    assert answer.json()["cart_token"] != token
    assert other_api.patch("/cart/p1", {"qty": 2}, cart=token).status_code == 404
    assert other_api.delete("/cart", cart=token).json()["cart_token"] != token
    assert len(quantities(api, token)) == 1


@pytest.mark.parametrize("write", ["add", "change", "remove", "empty"])
def test_a_token_used_in_another_shop_renews_no_cart(shop, api, other_shop, other_api, write):
    mug, theirs = make_product(shop), make_product(other_shop)
    token = filled(api, mug)
    before = Cart.objects.filter(shop=shop).values().get()
    if write == "add":
        add(other_api, theirs, cart=token)
    elif write == "change":
        other_api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token)
    elif write == "remove":
        other_api.delete(f"/cart/p{mug.pk}", cart=token)
    else:
        other_api.delete("/cart", cart=token)
    assert Cart.objects.filter(shop=shop).values().get() == before


def test_a_signed_in_shoppers_basket_is_not_reached_by_a_token(shop, api):
    token = filled(api, make_product(shop))
    Cart.objects.update(customer=make_customer(shop))
    assert api.get("/cart", cart=token).json()["cart_token"] is None
    assert add(api, make_product(shop), cart=token).json()["cart_token"] != token
    assert api.delete("/cart", cart=token).json()["cart_token"] != token


def test_a_basket_that_began_in_the_shop_has_no_token(shop):
    assert make_cart(shop).token_digest is None


def test_the_token_is_enough_for_any_integration_of_the_shop(shop, api):
    from tests.client import ApiClient
    from tests.shops.factories import make_token

    token = filled(api, make_product(shop))
    other = ApiClient(make_token(shop, "read_cart", "write_cart"))
    assert contents(other, token)["totals"]["line_count"] == 1
    assert other.delete("/cart", cart=token).json()["cart_token"] == token

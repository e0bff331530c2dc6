"""Numbers of queries, including authentication and transaction."""

import pytest
from django.db import connection

from tests.carts.factories import add, contents, filled, make_bundle
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.pricing.rows import make_code, make_discount


def bought(api, answer) -> list[tuple[int, int | None, int]]:
    """The lines of the cart that the answer names."""
    lines = contents(api, answer.json()["cart_token"])["items"]
    return [(line["product_id"], line["variant_id"], line["qty"]) for line in lines]


def test_first_add_takes_at_most_seven_queries(shop, api, django_assert_max_num_queries):
    shirt = make_product(shop)
    blue = make_variant(shirt)
    make_media(shirt)
    option = make_option(shirt, required=True)
    chosen = {str(option.pk): option.values.first().pk}
    with django_assert_max_num_queries(7):
        answer = add(api, shirt, variant_id=blue.pk, options=chosen)
    assert (answer.status_code, bought(api, answer)) == (201, [(shirt.pk, blue.pk, 1)])


def test_first_add_of_a_plain_product_takes_six_queries(shop, api, django_assert_max_num_queries):
    mug = make_product(shop)
    with django_assert_max_num_queries(6):
        answer = add(api, mug)
    assert (answer.status_code, bought(api, answer)) == (201, [(mug.pk, None, 1)])


def test_a_first_add_is_one_write_on_postgresql(shop, api, django_assert_num_queries):
    mug = make_product(shop)
    # SQLite runs in this process, so a transaction with two statements costs little more than one.
    with django_assert_num_queries(3 if connection.vendor == "postgresql" else 6):
        answer = add(api, mug)
    assert (answer.status_code, bought(api, answer)) == (201, [(mug.pk, None, 1)])


def test_first_add_of_a_bundle_takes_at_most_seven_queries(shop, api, django_assert_max_num_queries):
    bundle = make_bundle(shop, parts={make_product(shop): 1, make_variant(make_product(shop)): 2})
    with django_assert_max_num_queries(7):
        answer = add(api, bundle)
    assert (answer.status_code, bought(api, answer)) == (201, [(bundle.pk, None, 1)])


@pytest.mark.parametrize("lines", [0, 1, 20])
def test_read_takes_at_most_four_queries(shop, api, django_assert_max_num_queries, lines):
    cups = make_category(shop)
    make_discount(shop, name="Cups", value=50, items=[cups])
    token = api.delete("/cart").json()["cart_token"]
    for _ in range(lines):
        add(api, make_product(shop, categories=(cups,)), cart=token)
    with django_assert_max_num_queries(4):
        answer = api.get("/cart", cart=token)
    assert (answer.status_code, len(bought(api, answer))) == (200, lines)
    assert answer.json()["data"]["totals"]["discount"] == f"{4.75 * lines:.2f}"


def test_discount_codes_cost_a_query_only_in_carts_that_have_some(shop, api, django_assert_num_queries):
    make_code(shop)
    token = filled(api, make_product(shop))
    with django_assert_num_queries(3):
        api.get("/cart", cart=token)
    api.put("/cart/discount-codes", {"codes": ["spring10"]}, cart=token)
    with django_assert_num_queries(4):
        answer = api.get("/cart", cart=token)
    assert answer.json()["data"]["totals"]["discount"] == "0.95"


def test_add_to_a_full_cart_takes_no_more_queries_than_to_a_small_one(shop, api, django_assert_max_num_queries):
    token = filled(api, make_product(shop))
    for _ in range(20):
        add(api, make_product(shop), cart=token)
    mug = make_product(shop)
    with django_assert_max_num_queries(8):
        answer = add(api, mug, cart=token)
    assert (answer.status_code, len(bought(api, answer)), bought(api, answer)[-1]) == (201, 22, (mug.pk, None, 1))

"""How often the database is asked, authentication and transaction included."""

import pytest
from django.db import connection

from storefront.pricing.models import Discount
from tests.carts.factories import add, filled, make_bundle
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant


def test_a_first_add_asks_at_most_eight_times(shop, api, django_assert_max_num_queries):
    shirt = make_product(shop)
    blue = make_variant(shirt)
    make_media(shirt)
    option = make_option(shirt, required=True)
    chosen = {str(option.pk): option.values.first().pk}
    with django_assert_max_num_queries(8):
        add(api, shirt, variant_id=blue.pk, options=chosen)


def test_a_first_add_of_a_plain_product_asks_six_times(shop, api, django_assert_max_num_queries):
    mug = make_product(shop)
    with django_assert_max_num_queries(6):
        add(api, mug)


def test_a_first_add_is_one_write_on_postgresql(shop, api, django_assert_num_queries):
    mug = make_product(shop)
    # SQLite works in this process, where a transaction and two statements cost little more than one.
    with django_assert_num_queries(3 if connection.vendor == "postgresql" else 6):
        add(api, mug)


def test_a_first_add_of_a_bundle_asks_at_most_eight_times(shop, api, django_assert_max_num_queries):
    bundle = make_bundle(shop, parts={make_product(shop): 1, make_variant(make_product(shop)): 2})
    with django_assert_max_num_queries(8):
        add(api, bundle)


@pytest.mark.parametrize("lines", [0, 1, 20])
def test_a_read_asks_at_most_four_times(shop, api, django_assert_max_num_queries, lines):
    cups = make_category(shop)
    Discount.objects.create(shop=shop, name="Cups", kind="percent", value=50, category=cups)
    token = api.delete("/cart").json()["cart_token"]
    for _ in range(lines):
        add(api, make_product(shop, categories=(cups,)), cart=token)
    with django_assert_max_num_queries(4):
        api.get("/cart", cart=token)


def test_an_add_to_a_full_cart_asks_no_more_than_to_a_small_one(shop, api, django_assert_max_num_queries):
    token = filled(api, make_product(shop))
    for _ in range(20):
        add(api, make_product(shop), cart=token)
    mug = make_product(shop)
    with django_assert_max_num_queries(8):
        add(api, mug, cart=token)

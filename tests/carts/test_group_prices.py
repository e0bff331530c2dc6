"""Prices of a signed-in shopper's group (R-CART-30)."""

from datetime import timedelta

import pytest

from storefront.carts import actions
from storefront.pricing.models import GroupPrice
from tests.carts.factories import add, make_cart, make_customer, make_group
from tests.catalogue.factories import make_category, make_option, make_product, make_variant
from tests.shops.factories import NOW


@pytest.fixture
def group(shop):
    return make_group(shop, "10")


@pytest.fixture
def basket(shop, group):
    return make_cart(shop, make_customer(shop, group))


def price_of(basket, product, now=NOW, **more):
    line = actions.add_line(shop=basket.shop, now=now, cart=basket, product_id=product.pk, qty=1, **more).line
    return str(line.price_snapshot)


def test_group_price_applies(shop, group, basket):
    mug = make_product(shop, price="10.00")
    GroupPrice.objects.create(shop=shop, group=group, product=mug, price="8.00")
    assert price_of(basket, mug) == "8.00"


def test_percentage_applies_without_a_group_price(shop, basket):
    assert price_of(basket, make_product(shop, price="9.99")) == "8.99"


def test_percentage_is_of_the_sale_price_from_its_begin_to_its_end(shop, basket):
    begin, end, instant = NOW + timedelta(days=1), NOW + timedelta(days=2), timedelta(microseconds=1)
    sale = {"sale_price": "8.00", "sale_from": begin, "sale_until": end}
    mug = make_product(shop, price="10.00", **sale)
    moments = (begin - instant, begin, end - instant, end)
    assert [price_of(basket, mug, now) for now in moments] == ["9.00", "7.20", "7.20", "9.00"]


def test_the_variants_own_group_price_comes_before_the_products(shop, group, basket):
    shirt = make_product(shop)
    blue, red = make_variant(shirt, "Blue"), make_variant(shirt, "Red")
    GroupPrice.objects.create(shop=shop, group=group, product=shirt, price="8.00")
    GroupPrice.objects.create(shop=shop, group=group, product=shirt, variant=blue, price="7.00")
    assert price_of(basket, shirt, variant_id=blue.pk) == "7.00"
    assert price_of(basket, shirt, variant_id=red.pk) == "8.00"


def test_group_discount_does_not_apply_to_options(shop, basket):
    mug = make_product(shop, price="10.00")
    option = make_option(mug, values={"Gold": "5.00"})
    assert price_of(basket, mug, options={option.pk: option.values.get().pk}) == "14.00"


def test_product_can_be_excluded_from_group_discounts(shop, basket):
    assert price_of(basket, make_product(shop, price="10.00", exclude_from_group_discounts=True)) == "10.00"


def test_category_can_be_excluded_from_group_discounts(shop, basket):
    books = make_category(shop, "Books", exclude_from_group_discounts=True)
    assert price_of(basket, make_product(shop, price="10.00", categories=(books,))) == "10.00"


def test_group_price_applies_to_an_excluded_product(shop, group, basket):
    mug = make_product(shop, price="10.00", exclude_from_group_discounts=True)
    GroupPrice.objects.create(shop=shop, group=group, product=mug, price="8.00")
    assert price_of(basket, mug) == "8.00"


def test_another_group_another_customer_and_the_api_pay_the_list_price(shop, group, api):
    mug = make_product(shop, price="10.00")
    GroupPrice.objects.create(shop=shop, group=group, product=mug, price="8.00")
    friends = make_group(shop, name="Friends")
    for customer in (make_customer(shop, email="b@example.com"), make_customer(shop, friends, "c@example.com")):
        assert price_of(make_cart(shop, customer), mug) == "10.00"
    assert add(api, mug).json()["data"]["price_snapshot"] == "10.00"


def test_another_shops_group_has_no_effect(shop, other_shop, group):
    plate = make_product(other_shop, price="10.00")
    GroupPrice.objects.create(shop=shop, group=group, product=plate, price="1.00")
    stranger = make_cart(other_shop, make_customer(other_shop, group))
    assert price_of(stranger, plate) == "10.00"

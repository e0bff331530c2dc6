"""What can be added to a cart, and at what price."""

from datetime import timedelta

import pytest

from storefront.carts.actions import add_line
from storefront.carts.models import Cart
from storefront.kit import clock
from storefront.pricing.models import GroupPrice
from tests.answers import without_id
from tests.carts.factories import add, contents, filled, make_cart, make_customer, make_group
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.shops.factories import NOW


@pytest.mark.rule("R-CART-25")
@pytest.mark.parametrize(
    "state",
    [
        {"status": "draft"},
        {"status": "archived"},
        {"deleted_at": NOW},
        {"publish_at": clock.now() + timedelta(days=1)},
        {"unpublish_at": clock.now() - timedelta(days=1)},
    ],
)
def test_a_product_that_is_not_published_cannot_be_added(shop, api, state):
    answer = add(api, make_product(shop, **state))
    assert (answer.status_code, answer.json()["code"]) == (422, "product_unavailable")


@pytest.mark.rule("R-CART-25")
def test_an_unknown_product_is_refused_the_same_way(shop, api):
    draft = add(api, make_product(shop, status="draft"))
    unknown = api.post("/cart", {"product_id": 999_999, "qty": 1})
    assert without_id(unknown) == without_id(draft)


@pytest.mark.rule("R-CART-31")
def test_stock_is_enforced(shop, api):
    answer = add(api, make_product(shop, stock_qty=3), 4)
    assert (answer.status_code, answer.json()["code"], answer.json()["available"]) == (422, "insufficient_stock", 3)


@pytest.mark.rule("R-CART-31")
def test_unless_the_product_allows_backorders(shop, api):
    assert add(api, make_product(shop, stock_qty=0, allow_backorders=True), 4).status_code == 201


@pytest.mark.rule("R-CART-26")
def test_a_product_with_a_required_option_is_refused_until_it_is_chosen(shop, api):
    mug = make_product(shop)
    option = make_option(mug, "Engraving", required=True)
    answer = add(api, mug)
    assert (answer.status_code, answer.json()["code"]) == (422, "option_required")
    assert add(api, mug, options={str(option.pk): option.values.first().pk}).status_code == 201


@pytest.mark.rule("R-CART-26")
def test_the_refusal_message_carries_the_options_own_name(shop, api):
    mug = make_product(shop)
    make_option(mug, "Gravur „Größe“", required=True)
    assert "Gravur „Größe“" in add(api, mug).json()["message"]


@pytest.mark.rule("R-CART-30")
def test_a_group_price_is_the_price(shop):
    group = make_group(shop, "50")
    mug = make_product(shop, price="10.00")
    GroupPrice.objects.create(shop=shop, group=group, product=mug, price="8.00")
    basket = make_cart(shop, make_customer(shop, group))
    assert str(add_line(shop=shop, now=NOW, cart=basket, product_id=mug.pk, qty=1).line.price_snapshot) == "8.00"


@pytest.mark.rule("R-CART-31", "R-CAT-15")
def test_when_inventory_is_not_tracked_the_product_sells_regardless_of_stock(shop, api):
    assert add(api, make_product(shop, stock_qty=0, track_inventory=False), 4).status_code == 201


@pytest.mark.rule("R-CART-25", "R-CAT-15")
def test_an_inactive_variant_sells_at_no_quantity(shop, api):
    blue = make_variant(make_product(shop), is_active=False, track_inventory=False)
    assert add(api, blue.product, variant_id=blue.pk).json()["code"] == "product_unavailable"


@pytest.mark.rule("R-CAT-14")
def test_a_price_may_be_zero_when_every_price_lives_on_a_variant_or_a_required_option(shop, api):
    shirt, mug = make_product(shop, price="0.00"), make_product(shop, price="0.00")
    blue = make_variant(shirt, price="12.00")
    option = make_option(mug, values={"Gold": "5.00"}, required=True)
    assert add(api, shirt, variant_id=blue.pk).json()["data"]["price_snapshot"] == "12.00"
    chosen = {str(option.pk): option.values.get().pk}
    assert add(api, mug, options=chosen).json()["data"]["price_snapshot"] == "5.00"


@pytest.mark.rule("R-CART-17")
def test_a_refused_add_leaves_everything_as_it_was(shop, api):
    mug = make_product(shop, stock_qty=3)
    token = filled(api, mug, 2)
    before, cart = contents(api, token), Cart.objects.values().get()
    add(api, mug, 2, cart=token)
    assert (contents(api, token), Cart.objects.values().get()) == (before, cart)

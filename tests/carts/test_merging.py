import pytest

from storefront.carts import actions, merging
from storefront.carts.models import LIFETIME, CartLine
from storefront.carts.queries import cart_lines
from tests.carts.factories import make_bundle, make_cart, make_customer, make_group
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW


@pytest.fixture
def basket(shop):
    return make_cart(shop)


@pytest.fixture
def sent(shop):
    return make_cart(shop)


def put(cart, product, qty=1, **more):
    return actions.add_line(shop=cart.shop, now=NOW, cart=cart, product_id=product.pk, qty=qty, **more)


def merge(source, target, now=NOW):
    return merging.merge_carts(shop=target.shop, source=source, target=target, now=now)


def quantities(cart):
    return {line.product_id: line.qty for line in cart_lines(cart.shop, cart)}


def test_lines_move_and_equal_ones_add_up(shop, sent, basket):
    mug, plate, fork = make_product(shop), make_product(shop), make_product(shop)
    put(basket, mug, 1)
    put(basket, fork, 1)
    put(sent, mug, 2)
    put(sent, plate, 3)
    assert merge(sent, basket, NOW + LIFETIME / 2) == basket
    assert quantities(basket) == {mug.pk: 3, fork.pk: 1, plate.pk: 3}
    assert quantities(sent) == {}
    assert basket.expires_at == NOW + LIFETIME / 2 + LIFETIME


def test_stock_limits_merged_quantities(shop, sent, basket):
    mug = make_product(shop, stock_qty=4)
    put(basket, mug, 3)
    put(sent, mug, 3)
    merge(sent, basket)
    assert quantities(basket) == {mug.pk: 4}


def test_stock_is_counted_over_all_lines(shop, sent, basket):
    mug = make_product(shop, stock_qty=4)
    put(basket, make_bundle(shop, "Set", {mug: 3}), 1)
    put(sent, mug, 3)
    merge(sent, basket)
    assert quantities(basket)[mug.pk] == 1


def test_sold_out_lines_are_not_merged(shop, sent, basket):
    mug = make_product(shop, stock_qty=3)
    put(sent, mug, 3)
    type(mug).objects.update(stock_qty=0)
    merge(sent, basket)
    assert quantities(basket) == {}
    assert not CartLine.objects.exists()


def test_merged_line_stays_within_the_largest_quantity(shop, sent, basket):
    rice = make_product(shop, track_inventory=False)
    put(basket, rice, 9_000)
    put(sent, rice, 9_000)
    merge(sent, basket)
    assert quantities(basket) == {rice.pk: 9_999}


def test_merged_cart_stays_within_the_most_lines(shop, sent, basket):
    rice = make_product(shop, track_inventory=False)
    for cart, who in ((basket, "Ada"), (sent, "Cleo")):
        rows = [
            CartLine(shop=shop, cart=cart, key=f"{who}{n}", product=rice, qty=1, name_snapshot="Rice", created_at=NOW)
            for n in range(150)
        ]
        CartLine.objects.bulk_create(rows)
    merge(sent, basket)
    assert len(cart_lines(shop, basket)) == 200
    assert cart_lines(shop, sent) == []


def test_merged_lines_get_the_prices_of_the_customers_group(shop, sent):
    mug = make_product(shop, price="10.00")
    put(sent, mug)
    theirs = make_cart(shop, make_customer(shop, make_group(shop, "10")))
    merge(sent, theirs)
    (line,) = cart_lines(shop, theirs)
    assert str(line.price_snapshot) == "9.00"


def test_merging_a_cart_with_itself_changes_nothing(shop, basket):
    mug = make_product(shop)
    put(basket, mug, 2)
    merge(basket, basket)
    assert quantities(basket) == {mug.pk: 2}


def test_another_shops_cart_is_not_merged(other_shop, basket):
    theirs = make_cart(other_shop)
    put(theirs, make_product(other_shop))
    merge(theirs, basket)
    assert quantities(basket) == {}
    assert len(quantities(theirs)) == 1

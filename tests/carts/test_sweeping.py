from datetime import timedelta

from storefront.carts import actions
from storefront.carts.models import Cart, CartLine
from storefront.checkout.models import Checkout
from tests.carts.factories import make_cart
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

LATER = NOW + timedelta(days=7)


def test_deletes_expired_carts_with_their_lines_and_keeps_live_ones(shop, other_shop):
    old, fresh = make_cart(shop), make_cart(other_shop, now=NOW + timedelta(seconds=1))
    for cart in (old, fresh):
        mug = make_product(cart.shop)
        actions.add_line(shop=cart.shop, now=cart.created_at, product_id=mug.pk, qty=1, cart=cart)
    assert actions.delete_expired_carts(now=LATER) == 1
    assert Cart.objects.get() == fresh
    assert CartLine.objects.get().cart == fresh


def test_deletes_at_most_the_limit_oldest_first(shop):
    carts = [make_cart(shop, now=NOW - timedelta(minutes=n)) for n in range(5)]
    assert actions.delete_expired_carts(now=LATER, limit=2) == 2
    assert set(Cart.objects.all()) == set(carts[:3])


def test_a_checkout_outlives_its_cart(shop):
    checkout = Checkout.objects.create(shop=shop, cart=make_cart(shop), created_at=NOW, updated_at=NOW)
    actions.delete_expired_carts(now=LATER)
    checkout.refresh_from_db()
    assert checkout.cart is None

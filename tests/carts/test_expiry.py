from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart
from tests.carts.factories import add, filled, quantities
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW

WEEK = timedelta(days=7)
MOMENT = timedelta(seconds=1)


@pytest.fixture
def mug(shop):
    return make_product(shop)


@pytest.fixture
def token(api, mug):
    with time_machine.travel(NOW, tick=False):
        return filled(api, mug)


def at(moment):
    return time_machine.travel(moment, tick=False)


def test_cart_expires_after_seven_days(api, token):
    assert Cart.objects.get().expires_at == NOW + WEEK
    with at(NOW + WEEK - MOMENT):
        assert api.get("/cart", cart=token).json()["cart_token"] == token
    with at(NOW + WEEK):
        assert api.get("/cart", cart=token).json()["cart_token"] is None


@pytest.mark.parametrize("write", ["add", "change", "remove", "empty"])
def test_every_write_renews_the_cart(api, mug, token, write):
    with at(NOW + 3 * timedelta(days=1)):
        if write == "add":
            add(api, mug, cart=token)
        elif write == "change":
            api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token)
        elif write == "remove":
            api.delete(f"/cart/p{mug.pk}", cart=token)
        else:
            api.delete("/cart", cart=token)
    assert Cart.objects.get().expires_at == NOW + timedelta(days=10)


@pytest.mark.rule("R-CART-8")
def test_reads_and_refused_writes_do_not_renew_the_cart(api, mug, token):
    with at(NOW + timedelta(days=3)):
        api.get("/cart", cart=token)
        assert add(api, mug, 9_999, cart=token).status_code == 422
        assert api.delete("/cart/p0", cart=token).status_code == 404
    assert Cart.objects.get().expires_at == NOW + WEEK


def test_expired_token_counts_as_no_token_for_writes(api, mug, token):
    with at(NOW + WEEK):
        assert api.patch(f"/cart/p{mug.pk}", {"qty": 2}, cart=token).status_code == 404
        assert api.delete(f"/cart/p{mug.pk}", cart=token).status_code == 404
        fresh = add(api, mug, 2, cart=token).json()["cart_token"]
        assert fresh != token
        assert quantities(api, fresh) == {f"p{mug.pk}": 2}
        assert api.delete("/cart", cart=token).json()["cart_token"] not in (token, fresh)

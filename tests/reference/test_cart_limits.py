"""How long a cart lives and how much it holds."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart, CartLine
from tests.carts.factories import add, filled
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW


@pytest.mark.rule("R-CART-8")
def test_a_cart_lives_seven_days_from_the_last_write(shop, api):
    with time_machine.travel(NOW, tick=False):
        token = filled(api, make_product(shop))
    with time_machine.travel(NOW + timedelta(days=7, seconds=-1), tick=False):
        assert api.get("/cart", cart=token).json()["cart_token"] == token
    with time_machine.travel(NOW + timedelta(days=7), tick=False):
        assert api.get("/cart", cart=token).json()["cart_token"] is None


@pytest.mark.rule("R-LIM-5")
def test_a_cart_holds_200_lines(shop, api):
    rice = make_product(shop, track_inventory=False)
    token = filled(api, rice)
    CartLine.objects.bulk_create(
        CartLine(shop=shop, cart=Cart.objects.get(), key=f"k{n}", product=rice, qty=1, name_snapshot="", created_at=NOW)
        for n in range(198)
    )
    assert add(api, make_product(shop), cart=token).status_code == 201
    answer = add(api, make_product(shop), cart=token)
    assert (answer.status_code, answer.json()["code"]) == (422, "cart_too_large")
    assert add(api, rice, cart=token).status_code == 201
    assert Cart.objects.get().lines.count() == 200


@pytest.mark.rule("R-LIM-5")
def test_a_line_holds_1_to_9999_pieces(shop, api):
    rice = make_product(shop, track_inventory=False)
    assert [add(api, rice, qty).status_code for qty in (0, 1, 9_999, 10_000)] == [422, 201, 201, 422]


@pytest.mark.rule("R-LIM-6")
def test_a_line_takes_20_custom_fields(shop, api):
    field = {"name": "To", "value": "Ada"}
    mug = make_product(shop)
    assert [add(api, mug, custom_fields=[field] * n).status_code for n in (20, 21)] == [201, 422]

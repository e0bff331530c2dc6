"""`Idempotency-Key`, one request after the other. tests/shops/test_idempotency.py, tests/carts/test_races.py and
tests/orders/test_races.py race the same rules."""

from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart
from storefront.shops.models import IdempotentAnswer
from tests.answers import error_of
from tests.catalogue.factories import make_product
from tests.shops.factories import NOW


def add(api, product, qty=1, key="k1"):
    return api.post("/cart", {"product_id": product.pk, "qty": qty}, Idempotency_Key=key)


@pytest.mark.rule("R-CALL-21")
def test_the_first_answer_is_kept_and_returned_again(shop, api):
    mug = make_product(shop)
    first, again = add(api, mug), add(api, mug)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert (first.get("Idempotent-Replayed"), again["Idempotent-Replayed"]) == (None, "true")
    assert Cart.objects.count() == 1


@pytest.mark.rule("R-CALL-21")
def test_the_key_is_honoured_on_every_post(shop, api):
    cart = add(api, make_product(shop)).json()["cart_token"]
    links = [api.post("/cart/checkout", cart=cart, Idempotency_Key="k2") for _ in range(2)]
    assert links[0].content == links[1].content
    assert links[1]["Idempotent-Replayed"] == "true"


@pytest.mark.rule("R-CALL-21")
def test_an_answer_is_kept_24_hours(shop, api):
    mug = make_product(shop)
    with time_machine.travel(NOW, tick=False) as now:
        first = add(api, mug).content
        now.shift(timedelta(hours=24, seconds=-1))
        assert add(api, mug).content == first
        now.shift(timedelta(seconds=1))
        assert add(api, mug).content != first


@pytest.mark.rule("R-CALL-22")
def test_the_same_key_with_another_body_is_a_422_idempotency_mismatch(shop, api):
    mug = make_product(shop)
    add(api, mug)
    answer = add(api, mug, qty=2)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


@pytest.mark.rule("R-CALL-23")
def test_the_same_key_in_flight_is_a_409(shop, api):
    mug = make_product(shop)
    add(api, mug)
    IdempotentAnswer.objects.update(status=None, body=None)
    answer = add(api, mug)
    assert (answer.status_code, set(error_of(answer))) == (409, {"message", "code"})

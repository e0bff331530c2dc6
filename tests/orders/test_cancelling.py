"""Cancelling orders through the API."""

import pytest

from storefront.orders import actions
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.webhooks.models import Event
from tests.orders.conftest import one
from tests.payments.conftest import stock
from tests.shops.factories import NOW


@pytest.mark.parametrize("body", ["", {}, {"reason": "Changed their mind.", "restock": True}])
def test_cancelling_restocks_the_items_and_ends_the_order(app, shop, order, mug, body):
    assert stock(mug) == 7
    answer = app.post(f"/orders/{order.pk}/cancellation", body)
    assert answer.status_code == 201
    found = one(answer)
    assert (found["status"], found["payments"][0]["status"]) == ("cancelled", "voided")
    assert found["cancelled_at"] == found["restocked_at"] is not None
    assert found["cancel_reason"] == (body["reason"] if body else "")
    assert found == one(app.get(f"/orders/{order.pk}"))
    assert stock(mug) == 10
    event = Event.objects.get(shop=shop, topic="order.cancelled")
    assert event.data == found
    assert next(iter(event.data)) == "id"


def test_cancelling_without_restock_does_not_change_stock(app, order, mug):
    found = one(app.post(f"/orders/{order.pk}/cancellation", {"restock": False, "reason": "Lost."}))
    assert (found["status"], found["restocked_at"], found["cancel_reason"]) == ("cancelled", None, "Lost.")
    assert stock(mug) == 7


def test_cancelling_does_not_refund_a_payment(app, paid):
    found = one(app.post(f"/orders/{paid.pk}/cancellation", {}))
    assert (found["payment_status"], found["payments"][0]["status"]) == ("paid", "paid")
    assert app.post(f"/orders/{paid.pk}/refunds", {}).status_code == 201


@pytest.mark.parametrize("end", [fulfil_order, actions.cancel_order])
def test_refuses_to_cancel_an_order_that_is_not_open(app, shop, order, mug, end):
    end(shop=shop, order=order, now=NOW)
    before = stock(mug)
    answer = app.post(f"/orders/{order.pk}/cancellation", {})
    assert (answer.status_code, answer.json()["code"]) == (422, "order_not_open")
    assert stock(mug) == before


def test_refuses_to_cancel_a_partially_fulfilled_order(app, shop, order, mug):
    fulfil_order(shop=shop, order=order, pieces=[(order.lines.first().pk, 1)], now=NOW)
    answer = app.post(f"/orders/{order.pk}/cancellation", {})
    assert (answer.status_code, answer.json()["code"]) == (422, "order_partly_fulfilled")
    assert "Fulfil the rest, or refund the items that will not be shipped." in answer.json()["message"]
    assert stock(mug) == 7
    assert Order.objects.get().status == "open"

"""Requesting refunds through the API: amounts, restocking, never more than was paid. No test here calls a gateway."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from storefront.kit.money import ZERO
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.models import Payment, Refund
from storefront.payments.refunds import RefundTooLarge, paid_payments, refund_total, request_refund
from storefront.webhooks.models import Event
from tests.answers import error_of
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.conftest import one
from tests.orders.factories import Promise, make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import NOW


def owed() -> Decimal:
    return Payment.objects.get().refunded


@pytest.mark.parametrize("body", ["", {}, {"amount": None}])
def test_without_an_amount_the_full_rest_is_refunded(app, paid, body):
    answer = app.post(f"/orders/{paid.pk}/refunds", body)
    assert answer.status_code == 201
    made = one(answer)
    assert (made["order_id"], made["payment_id"]) == (paid.pk, paid.payments.get().pk)
    assert (made["amount"], made["currency"], made["status"], made["restocked"]) == ("48.50", "EUR", "pending", False)
    found = one(app.get(f"/orders/{paid.pk}"))
    assert found["refunds"] == [made]
    assert (found["payment_status"], found["refunded"], found["payments"][0]["refunded"]) == ("paid", "0.00", "48.50")


def test_refunds_never_exceed_what_was_paid(app, paid):
    for amount in ("0.10", "0.20", "28.2"):
        answer = app.post(f"/orders/{paid.pk}/refunds", {"amount": amount, "reason": "Broken."})
        assert (one(answer)["amount"], one(answer)["reason"]) == (f"{Decimal(amount):.2f}", "Broken.")
    answer = app.post(f"/orders/{paid.pk}/refunds", {"amount": "20.01"})
    assert answer.status_code == 422
    sentence = "At most €20.00 can still be refunded."
    assert error_of(answer) == {"message": sentence, "code": "refund_too_large", "errors": {"amount": [sentence]}}
    assert one(app.post(f"/orders/{paid.pk}/refunds", {}))["amount"] == "20.00"
    for body in ({}, {"amount": "0.01"}):
        assert app.post(f"/orders/{paid.pk}/refunds", body).json()["code"] == "refund_too_large"
    assert (owed(), Refund.objects.count()) == (Decimal("48.50"), 4)


def test_what_a_refund_comes_to_is_known_before(paid):
    assert [refund_total(order=paid, amount=amount) for amount in (None, Decimal("1.00"))] == [Decimal("48.50"), 1]
    assert not Refund.objects.exists()


@pytest.mark.parametrize("field", ["amount", "shipping"])
def test_half_a_yen_is_not_refunded(app, shop, field):
    shop.currency = "JPY"
    shop.save()
    pot = make_product(shop, "Pot", price=Decimal("1000.00"), stock_qty=1)
    sums = {"shipping": Decimal("500.00"), "total": Decimal("1500.00")}
    order = make_order(shop, sale_line(pot), shipping_method="Parcel", **sums)
    payments.mark_paid(shop=shop, order=order, now=NOW)
    answer = app.post(f"/orders/{order.pk}/refunds", {field: "200.50"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert not Refund.objects.exists()
    assert one(app.post(f"/orders/{order.pk}/refunds", {field: "200.00"}))["amount"] == "200.00"


def test_refuses_to_refund_an_unpaid_order(app, shop, order, mug):
    held = make_order(shop, sale_line(mug), promise=Promise("demo", mug.price, "demo_1", is_held=True))
    for unpaid in (order, held):
        answer = app.post(f"/orders/{unpaid.pk}/refunds", {})
        assert (answer.status_code, answer.json()["code"]) == (422, "order_not_paid")


def test_refund_restocks_the_items_once(app, shop, paid, mug):
    fulfil_order(shop=shop, order=paid, now=NOW)
    made = [
        one(app.post(f"/orders/{paid.pk}/refunds", {"amount": "1.00", "restock": restock}))["restocked"]
        for restock in (False, True, True)
    ]
    assert made == [False, True, False]
    mug.refresh_from_db()
    assert mug.stock_qty == 10
    assert one(app.get(f"/orders/{paid.pk}"))["restocked_at"] is not None


def test_refund_does_not_restock_a_cancelled_order_again(app, shop, paid, mug):
    payments.cancel_order(shop=shop, order=paid, now=NOW)
    assert one(app.post(f"/orders/{paid.pk}/refunds", {"restock": True}))["restocked"] is False
    mug.refresh_from_db()
    assert mug.stock_qty == 10


def test_refuses_to_restock_an_open_order(app, paid, mug):
    answer = app.post(f"/orders/{paid.pk}/refunds", {"restock": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "order_still_open")
    assert "Cancel the order to restock its items." in answer.json()["message"]
    assert (owed(), Refund.objects.count()) == (0, 0)


def test_no_event_before_the_gateway_has_refunded(app, paid):
    app.post(f"/orders/{paid.pk}/refunds", {})
    assert not Event.objects.filter(topic="order.refunded").exists()


def test_repeated_request_with_an_idempotency_key_refunds_once(app, paid):
    body = {"amount": "5.00"}
    first, again = (app.post(f"/orders/{paid.pk}/refunds", body, Idempotency_Key="refund-1") for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content) == (201, again.content)
    assert again["Idempotent-Replayed"] == "true"
    assert (owed(), Refund.objects.count()) == (Decimal("5.00"), 1)
    assert app.post(f"/orders/{paid.pk}/refunds", {}, Idempotency_Key="refund-1").json()["code"] == (
        "idempotency_mismatch"
    )


@pytest.mark.parametrize("refunded", ["48.51", "-0.01"])
def test_database_constraint_keeps_refunds_within_the_payment(paid, refunded):
    for row in (paid.payments, Order.objects.filter(pk=paid.pk)):
        with pytest.raises(IntegrityError), transaction.atomic():
            row.update(refunded=Decimal(refunded))


@pytest.mark.django_db(transaction=True)
def test_concurrent_refunds_never_exceed_what_was_paid(shop):
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("0.70"))))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    calls = [lambda: request_refund(shop=shop, order=order, amount=Decimal("0.10"), now=NOW)] * 12
    answers = run_concurrently(*calls, refusal=RefundTooLarge)
    assert [type(answer) for answer in answers if not isinstance(answer, Refund)] == [RefundTooLarge] * 5
    assert (owed(), Refund.objects.count()) == (Decimal("0.70"), 7)


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_idempotency_key_refund_once(shop, form):
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("9.00"))))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    token = install(shop, "read_orders", "write_orders").token
    rivals = [ApiClient(token, prefix=form) for _ in range(6)]
    body = {"amount": "2.00"}
    calls = [lambda api=api: api.post(f"/orders/{order.pk}/refunds", body, Idempotency_Key="k") for api in rivals]
    assert {answer.status_code for answer in run_concurrently(*calls)} <= {201, 409}
    assert (owed(), Refund.objects.count()) == (Decimal("2.00"), 1)


@pytest.mark.django_db(transaction=True)
def test_concurrent_refunds_restock_once(shop):
    mug = make_product(shop, stock_qty=10, price=Decimal("6.00"))
    order = make_order(shop, sale_line(mug, 4))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    fulfil_order(shop=shop, order=order, now=NOW)
    ask = {"shop": shop, "order": order, "amount": Decimal("1.00"), "restock": True, "now": NOW}
    made = run_concurrently(*[lambda: request_refund(**ask)] * 6)
    assert sorted(refund.restocked for refund in made) == [False] * 5 + [True]
    mug.refresh_from_db()
    assert mug.stock_qty == 10


def test_the_payments_of_another_order_stay_whole(shop, mug, paid):
    other = payments.mark_paid(shop=shop, order=make_order(shop, sale_line(mug, 1)), now=NOW)
    assert {payment.order_id for payment in paid_payments(paid)} == {paid.pk}
    request_refund(shop=shop, order=paid, now=NOW)
    assert [payment.refunded for payment in other.payments.all()] == [ZERO]

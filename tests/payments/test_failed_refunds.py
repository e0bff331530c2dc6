"""Refunds that the provider accepts, and that fail later: they do not count as refunded any more."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.utils import timezone

from storefront.orders.models import Order
from storefront.payments.models import OrderDraft, Payment, PaymentEntry, Refund
from storefront.payments.providers.base import RefundReport, RefundStanding, Report, Standing
from storefront.payments.refunds import refundable, request_refund
from storefront.payments.settling import settle
from storefront.webhooks.models import Event
from tests.payments.conftest import account_of, press, return_path
from tests.payments.refunding import record_refunded
from tests.payments.test_news import send
from tests.payments.test_redirect import later
from tests.races import run_concurrently
from tests.staff import admin_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def order(bank, shopper, mug) -> Order:
    """Paid at the bank."""
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    return Order.objects.get()


@pytest.fixture
def refunded(bank, shop, order) -> Refund:
    """Carried out by the bank."""
    request_refund(shop=shop, order=order, now=timezone.now())
    later()
    order.refresh_from_db()
    assert (order.payment_status, bank.held) == ("refunded", 0)
    return Refund.objects.get()


def is_taken_back(bank, order, refund) -> bool:
    for row in (order, refund):
        row.refresh_from_db()
    payment = Payment.objects.get()
    assert (refund.status, refund.failure) == ("failed", "account closed")
    assert (order.refunded, order.payment_status) == (0, "paid")
    assert (payment.returned, payment.refunded, refundable(payment)) == (0, 0, order.total)
    assert sum(PaymentEntry.objects.values_list("amount", flat=True)) == bank.held == order.total
    (event,) = Event.objects.filter(topic="refund.failed")
    return (event.data["id"], event.data["status"], event.data["failure"]) == (refund.pk, "failed", "account closed")


@pytest.mark.slow
@pytest.mark.parametrize("heard", ["news", "worker"])
def test_it_is_taken_back_and_can_be_refunded_again(bank, shop, order, refunded, heard, desk):
    account_of(bank).failed.add(str(refunded.key))
    for _ in range(2):
        if heard == "news":
            assert send(shop, *bank.news(account_of(bank))).status_code == 200
        else:
            later(hours=2)
    assert is_taken_back(bank, order, refunded)
    for page in (order, Payment.objects.get()):
        assert "Failed: account closed" in desk.get(admin_url(page, "change")).content.decode()

    request_refund(shop=shop, order=order, now=timezone.now())
    later()
    order.refresh_from_db()
    assert (order.refunded, order.payment_status, bank.held) == (order.total, "refunded", 0)


def test_a_part_that_fails_leaves_the_other(bank, shop, order):
    for amount in ("3.00", "2.00"):
        request_refund(shop=shop, order=order, amount=Decimal(amount), now=timezone.now())
    later()
    account_of(bank).failed.add(str(Refund.objects.get(amount=Decimal("3.00")).key))
    later(hours=2)
    order.refresh_from_db()
    assert (order.refunded, order.payment_status) == (Decimal("2.00"), "partially_refunded")
    assert Payment.objects.get().refunded == Decimal("2.00")


@pytest.mark.slow
def test_one_that_was_made_at_the_bank_is_taken_back_too(bank, order):
    account_of(bank).refunds["elsewhere"] = order.total
    later(hours=2)
    order.refresh_from_db()
    assert order.payment_status == "refunded"
    account_of(bank).failed.add("elsewhere")
    later(days=2)
    order.refresh_from_db()
    assert (order.payment_status, order.refunded, Payment.objects.get().refunded) == ("paid", 0, 0)


def test_one_whose_acceptance_was_never_heard_of_fails_once(bank, shop, order):
    request_refund(shop=shop, order=order, now=timezone.now())
    refund = Refund.objects.get()
    bank.deaf = {"refund"}
    later()
    bank.deaf = set()
    account_of(bank).failed.add(str(refund.key))
    Payment.objects.update(due_at=timezone.now())
    later()
    assert not record_refunded(shop=shop, refund=refund, reference="late", now=timezone.now())
    assert is_taken_back(bank, order, refund)


def test_old_answers_and_repetitions_change_nothing(bank, shop, order, refunded):
    payment = Payment.objects.get()
    done = RefundReport(order.total, f"re_{refunded.key}", refunded.key)
    failed = replace(done, standing=RefundStanding.FAILED, why="account closed")
    before, after = (Report(Standing.PAID, captured=order.total, refunds=(told,)) for told in (done, failed))
    account_of(bank).failed.add(str(refunded.key))
    for report in (after, before, after, before):
        settle(shop=shop, payment=payment, report=report, source="look", seen=payment.version, now=timezone.now())
    assert is_taken_back(bank, order, refunded)


@pytest.mark.slow
def test_news_of_it_many_times_at_once_take_it_back_once(bank, shop, order, refunded):
    account_of(bank).failed.add(str(refunded.key))

    def sweep():
        return later(hours=2)

    calls = [lambda: send(shop, *bank.news(account_of(bank))).status_code] * 4
    run_concurrently(*calls, sweep)
    assert is_taken_back(bank, order, refunded)


@pytest.mark.slow
def test_late_money_that_could_not_go_back_shows_with_the_payment(bank, shop, shopper, mug, desk):
    press(shopper, mug)
    bank.pay(account_of(bank), "later")
    OrderDraft.objects.update(state="ended", stock_taken=[])
    mug.stock_qty = 0
    mug.save()
    bank.pay(account_of(bank))
    later(minutes=2)
    account_of(bank).failed.add(str(Refund.objects.get().key))
    later(hours=2)
    assert (Refund.objects.get().status, Payment.objects.get().refunded) == ("failed", 0)
    assert not Event.objects.filter(topic="refund.failed").exists()
    assert "Failed: account closed" in desk.get(admin_url(Payment.objects.get(), "change")).content.decode()
    assert (
        "could not be given back" in desk.get(admin_url(Payment, "changelist") + "?attention=needed").content.decode()
    )
    later(days=3)
    assert Refund.objects.count() == 1, "it is not tried again by itself"

"""An order that is cancelled while its money is taken: the money is released, or goes back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from storefront.catalogue.models import Product
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.payments import jobs
from storefront.payments.actions import cancel_order
from storefront.payments.asking import ask, end_payment
from storefront.payments.jobs import ask_providers
from storefront.payments.models import Payment, PaymentEntry, ProviderAccount, Refund
from storefront.payments.rules import Call
from storefront.webhooks.models import Event
from tests.checkout.shopper import Shopper
from tests.payments.conftest import account_of, press, return_path, stock
from tests.payments.test_redirect import later
from tests.races import run_concurrently

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def held(bank, shopper, mug) -> Payment:
    """The payment of an order whose money the bank holds until it is shipped."""
    account = ProviderAccount.objects.get()
    account.values["capture"] = "on_fulfilment"
    account.save()
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    return Payment.objects.select_related("order", "draft").get()


def test_a_cancel_while_the_money_is_taken_gives_it_back(bank, shop, held, mug):
    account_of(bank).state = "authorised"
    bank.gated = {"capture"}

    def capture():
        return ask(shop=shop, payment=held, call=Call.CAPTURE, now=timezone.now())

    def cancel():
        assert bank.arrived.acquire(timeout=60)
        cancel_order(shop=shop, order=held.order, now=timezone.now())
        bank.gate.set()

    run_concurrently(capture, cancel)

    order, refund = Order.objects.get(), Refund.objects.get()
    assert (order.status, order.payment_status, bank.held) == ("cancelled", "paid", order.total)
    assert (refund.order, refund.amount, refund.status) == (order, order.total, "pending")
    assert refund.reason == "The payment was taken after the order had been cancelled."
    later(minutes=2)
    order.refresh_from_db()
    assert (order.status, order.payment_status, bank.held, stock(mug)) == ("cancelled", "refunded", 0, 10)
    assert sum(PaymentEntry.objects.values_list("amount", flat=True)) == 0
    topics = Event.objects.filter(topic__startswith="order.").order_by("pk").values_list("topic", flat=True)
    assert list(topics) == ["order.placed", "order.cancelled", "order.paid", "order.refunded"]


def test_an_answer_to_the_capture_that_was_lost_gives_the_money_back(bank, shop, held):
    bank.deaf = {"capture"}
    assert ask(shop=shop, payment=held, call=Call.CAPTURE, now=timezone.now()) is None
    cancel_order(shop=shop, order=held.order, now=timezone.now())
    bank.deaf = set()
    later(minutes=2)
    later(minutes=4)
    assert (bank.held, Order.objects.get().payment_status, Refund.objects.count()) == (0, "refunded", 1)


def test_an_order_that_is_cancelled_before_the_workers_turn_is_not_captured(bank, shop, held):
    Payment.objects.update(is_held=False, due_at=timezone.now())
    (loaded,) = Payment.objects.select_related("shop", "draft", "order")
    cancel_order(shop=shop, order=held.order, now=timezone.now())
    assert jobs._ask(loaded, timezone.now())
    assert (bank.calls[-1], bank.held, account_of(bank).state) == ("cancel", 0, "cancelled")


def test_captures_and_cancels_at_once_end_without_money_or_with_an_order(bank, shop, mug):
    account = ProviderAccount.objects.get()
    account.values["capture"] = "on_fulfilment"
    account.save()

    def work():
        return ask_providers(now=timezone.now() + timedelta(seconds=1), limit=10)

    for _ in range(6):
        shopper = Shopper(shop)
        press(shopper, mug)
        payment = Payment.objects.last()
        bank.pay(bank.accounts[payment.reference])
        shopper.get(return_path(payment))
        payment = Payment.objects.select_related("order", "draft").get(pk=payment.pk)

        def capture(payment=payment):
            return ask(shop=shop, payment=payment, call=Call.CAPTURE, now=timezone.now())

        def cancel(order=payment.order):
            return cancel_order(shop=shop, order=order, now=timezone.now())

        run_concurrently(capture, cancel, work, refusal=Refusal)
    later(minutes=2)
    later(minutes=5)
    for order in Order.objects.all():
        held = sum(bank.accounts[each.reference].captured for each in order.payments.all()) - order.refunded
        paid_first = order.payment_status == "paid"
        assert (held, order.refunded) in ((0, 0), (0, order.total)) or paid_first, order
        if paid_first:
            # It was paid when it was cancelled, and who cancelled it was told so.
            cancelled = Event.objects.get(topic="order.cancelled", data__id=order.pk)
            assert cancelled.data["payment_status"] == "paid"


def test_held_money_is_released_as_soon_as_the_order_is_cancelled(bank, shop, held):
    cancel_order(shop=shop, order=held.order, now=timezone.now())
    assert ask_providers(now=timezone.now(), limit=10) == 1
    assert (bank.calls[-1], bank.held, account_of(bank).state) == ("cancel", 0, "cancelled")


def test_money_held_for_a_draft_that_has_ended_is_released(bank, shop, shopper, mug):
    account = ProviderAccount.objects.get()
    account.values["capture"] = "on_fulfilment"
    account.save()
    press(shopper, mug)
    later(minutes=40)
    Product.objects.update(stock_qty=0)
    bank.pay(account_of(bank))
    later(minutes=41)
    later(minutes=42)
    assert (Order.objects.count(), bank.calls[-1], bank.held, account_of(bank).state) == (0, "cancel", 0, "cancelled")


def test_money_held_by_a_start_whose_answer_was_lost_is_released_when_the_payment_is_replaced(bank, shop, shopper, mug):
    account = ProviderAccount.objects.get()
    account.values["capture"] = "on_fulfilment"
    account.save()
    bank.deaf = {"start"}
    press(shopper, mug)
    bank.deaf = set()
    bank.pay(account_of(bank))
    payment = Payment.objects.select_related("order", "draft").get()
    assert (payment.reference, account_of(bank).state) == ("", "authorised")
    ended = end_payment(shop=shop, payment=payment, now=timezone.now())
    assert (ended.state, account_of(bank).state, bank.held) == ("cancelled", "cancelled", 0)

"""A gift card beside a bank's payment that is silent, late, or given up: it is spent with the order, or put back."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from storefront.gift_cards.ledger import release, spend
from storefront.orders.models import Order
from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment
from storefront.payments.placing import end_draft, lock_draft
from tests.gift_cards.factories import balance, make_card
from tests.gift_cards.test_spending import enter, fill
from tests.payments.conftest import account_of, bank  # noqa: F401, a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def pressed(bank, shop, shopper, mug):  # noqa: F811
    """The shopper is at the bank to pay 15.00; 5.00 are taken off the card."""
    card, code = make_card(shop, "5.00")
    fill(shopper, mug)
    enter(shopper, code)
    shopper.post("/checkout/payment", shopper.payment_fields("bank"))
    assert (balance(card), account_of(bank).amount) == (0, 15)
    return card


def payment() -> Payment:
    return Payment.objects.get(gateway="bank")


def come_back(shopper):
    return shopper.get(f"/checkout/payment/{payment().public_id}/return")


def time_passes(minutes: int) -> None:
    now = timezone.now() + timedelta(minutes=minutes)
    for sweep in (ask_providers, end_expired_drafts, ask_providers, pay_back_refunds):
        sweep(now=now, limit=10)


def test_the_bank_takes_what_is_left(bank, shopper, pressed):  # noqa: F811
    bank.pay(account_of(bank))
    come_back(shopper)
    order = Order.objects.get()
    assert (order.payment_status, order.amount_due, balance(pressed)) == ("paid", 0, 0)


def test_reading_the_page_again_still_shows_the_card(shopper, pressed):
    assert "Pays €5.00" in shopper.read("/checkout/payment")


def test_a_payment_given_up_puts_it_back_at_once(shopper, pressed):
    shopper.post(f"/checkout/payment/{payment().public_id}/another", {})
    assert (balance(pressed), Order.objects.count()) == (5, 0)
    shopper.post("/checkout/payment", shopper.payment_fields("manual"))
    assert (balance(pressed), Order.objects.get().amount_due) == (0, 15)


def test_a_payment_that_never_comes_puts_it_back(shopper, pressed):
    time_passes(31)
    assert (balance(pressed), OrderDraft.objects.get().state, Order.objects.count()) == (5, "ended", 0)


@pytest.fixture
def ended(bank, shop, pressed):  # noqa: F811
    """The draft ended while the bank was at it: stock and card are as before."""
    bank.pay(account_of(bank), "later")
    with transaction.atomic():
        end_draft(shop=shop, draft=lock_draft(shop, OrderDraft.objects.get().pk), now=timezone.now())
    assert balance(pressed) == 5
    return pressed


@pytest.mark.slow
def test_money_that_comes_late_spends_the_card_again(bank, shopper, ended):  # noqa: F811
    bank.pay(account_of(bank))
    come_back(shopper)
    assert (Order.objects.get().payment_status, balance(ended)) == ("paid", 0)


def test_money_that_comes_late_goes_back_if_the_card_is_spent(bank, shop, shopper, ended):  # noqa: F811
    ledger_entry = {"card_id": ended.pk, "amount": Decimal("1.00"), "currency": "EUR", "cart_id": None}
    with transaction.atomic():
        spend(shop=shop, key=(key := uuid4()), now=timezone.now(), **ledger_entry)
    bank.pay(account_of(bank))
    come_back(shopper)
    time_passes(1)
    assert (Order.objects.count(), balance(ended), account_of(bank).refunded) == (0, 4, 15)
    with transaction.atomic():
        release(shop=shop, payment=key, now=timezone.now())

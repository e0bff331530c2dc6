"""A paid payment is looked at again, after growing waits: a dispute or a refund of which no news came is seen."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from storefront.orders.models import Order
from storefront.payments.jobs import ask_providers
from storefront.payments.models import Payment
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.orders.factories import Promise, capture, make_order, sale_line
from tests.payments.conftest import account_of, press, return_path

AGES = [timedelta(hours=1), *(timedelta(days=days) for days in (1, 7, 30, 60, 120))]


@pytest.fixture
def paid(bank, shopper, mug) -> Payment:
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    return Payment.objects.get()


def work(now) -> int:
    """Run the worker at this time. Returns how many providers answered."""
    return ask_providers(now=now, limit=10)


def test_it_is_looked_at_six_times_in_four_months(bank, paid):
    for age in AGES:
        assert work(paid.updated_at + age - timedelta(minutes=1)) == 0
        assert work(paid.updated_at + age) == 1
    assert Payment.objects.get().due_at is None
    assert bank.calls[-6:] == ["look"] * 6


def test_a_refund_at_the_bank_without_news_is_seen_and_begins_the_looks_anew(bank, paid):
    account_of(bank).refunds["elsewhere"] = account_of(bank).captured
    seen = paid.updated_at + timedelta(hours=1)
    work(seen)
    assert Order.objects.get().payment_status == "refunded"
    assert Payment.objects.get().due_at == seen + timedelta(hours=1)


@pytest.mark.slow
def test_a_look_without_an_answer_is_made_again_and_not_for_ever(bank, paid, shop):
    shop.provideraccount_set.all().delete()
    asked = []
    while due := Payment.objects.get().due_at:
        assert work(due) == 0
        asked.append(due - paid.updated_at)
    assert asked[:3] == [timedelta(minutes=minutes) for minutes in (60, 61, 63)]
    assert timedelta(days=30) < asked[-1] <= timedelta(days=120)
    assert len(asked) < 20


def test_who_keeps_no_books_is_not_asked(shop):
    for gateway in ("manual", "demo"):
        order = make_order(shop, sale_line(make_product(shop)), promise=Promise(gateway, 12, "x", is_held=True))
        assert capture(order.payments.get()).due_at is None


@pytest.mark.slow
def test_those_without_an_outcome_come_first(bank, shop, paid, mug):
    press(Shopper(shop), mug)
    asked = ask_providers(now=timezone.now() + timedelta(days=3), limit=1)
    assert asked == 1
    assert Payment.objects.get(pk=paid.pk).looks == 0


def queries(now) -> int:
    with CaptureQueriesContext(connection) as made:
        work(now)
    return len(made)


@pytest.mark.slow
def test_a_look_costs_the_same_whatever_the_order_and_none_costs_one_query(bank, shop, paid):
    assert queries(paid.updated_at) == 1
    small = queries(paid.updated_at + AGES[0])
    for name in ("Cup", "Plate"):
        shopper = Shopper(shop)
        shopper.post("/basket/add", {"product": make_product(shop, name, stock_qty=9).pk, "qty": "2"})
        press(shopper, make_product(shop, f"{name} 2", stock_qty=9))
    Payment.objects.exclude(pk=paid.pk).delete()
    Payment.objects.update(due_at=paid.updated_at + AGES[1])
    assert queries(paid.updated_at + AGES[1]) == small
    assert small <= 12

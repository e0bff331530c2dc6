"""The worker has providers carry out refunds: each exactly once, whatever fails."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db import connection

from storefront.orders.models import Order
from storefront.orders.queries import order_record
from storefront.payments import actions, refunds
from storefront.payments.jobs import pay_back_refunds
from storefront.payments.models import Refund
from storefront.payments.providers.base import Charge, RefundDeclined, RefundReport
from storefront.payments.providers.demo import Demo
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.refunds import AGAIN, carry_out_refund, request_refund
from storefront.server.worker.sweeps import SWEEPS
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.orders.factories import Promise, capture, make_order, sale_line
from tests.payments.refunding import record_refund_failed, record_refunded
from tests.races import run_concurrently
from tests.shops.factories import NOW

LATER = NOW + AGAIN


class Bank(Demo):
    """A provider that is idempotent by key, as real ones are. `trouble` is raised after the money has moved."""

    def __init__(self) -> None:
        self.given: dict[UUID, tuple[str, Decimal, str]] = {}
        self.asked: list[UUID] = []
        self.trouble: Exception | None = None

    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        self.asked.append(key)
        if isinstance(self.trouble, RefundDeclined):
            raise self.trouble
        self.given.setdefault(key, (charge.reference, amount, charge.currency))
        if self.trouble:
            raise self.trouble
        return RefundReport(amount, f"bank_{key}", key)

    @property
    def total(self) -> Decimal:
        return sum((amount for _, amount, _ in self.given.values()), Decimal("0.00"))


@pytest.fixture
def bank(monkeypatch) -> Bank:
    bank = Bank()
    monkeypatch.setitem(PROVIDERS, "demo", bank)
    return bank


@pytest.fixture
def order(shop) -> Order:
    """Paid by card: 20.00."""
    promise = Promise("demo", Decimal("20.00"), "demo_1", is_held=True)
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("20.00"))), promise=promise)
    capture(order.payments.get())
    return order


def ask(order, amount=None) -> Refund:
    return request_refund(shop=order.shop, order=order, amount=amount and Decimal(amount), now=NOW)


def sweep(now=NOW) -> int:
    return pay_back_refunds(now=now, limit=10)


def test_worker_carries_out_a_refund_and_records_its_event(shop, order, bank):
    refund = ask(order, "5.00")
    assert sweep() == 1
    refund.refresh_from_db()
    assert (refund.status, refund.reference) == ("done", f"bank_{refund.key}")
    (given,) = bank.given.values()
    assert given == ("demo_1", Decimal("5.00"), "EUR")
    order.refresh_from_db()
    assert (order.payment_status, order.refunded) == ("partially_refunded", Decimal("5.00"))
    event = Event.objects.get(shop=shop, topic="order.refunded")
    assert event.data == order_record(order)
    assert (next(iter(event.data)), event.data["refunds"][0]["status"]) == ("id", "done")


def test_worker_looks_for_due_refunds_every_few_seconds():
    (sweep,) = [sweep for sweep in SWEEPS if sweep.batch is pay_back_refunds]
    assert sweep.every <= timedelta(seconds=10)


def test_fully_refunded_order_has_the_status_refunded(order, bank):
    ask(order, "5.00")
    ask(order)
    assert sweep() == 2
    order.refresh_from_db()
    assert (order.payment_status, order.refunded, bank.total) == ("refunded", Decimal("20.00"), Decimal("20.00"))
    assert Event.objects.filter(topic="order.refunded").count() == 2
    assert sweep(LATER) == 0


def test_manual_refund_is_recorded(shop):
    order = make_order(shop, sale_line(make_product(shop, price=Decimal("3.00"))))
    actions.mark_paid(shop=shop, order=order, now=NOW)
    refund = ask(order)
    assert sweep() == 1
    refund.refresh_from_db()
    order.refresh_from_db()
    assert (refund.status, refund.reference, order.payment_status) == ("done", "", "refunded")


def test_demo_gateway_is_idempotent_by_key():
    key, charge = uuid4(), Charge(1, uuid4(), Decimal("1.00"), "EUR", settings={})
    answers = {Demo().refund(charge, key=key, amount=Decimal("1.00")) for _ in range(2)}
    assert [each.reference for each in answers] == [f"demo_refund_{key}"]


def test_failed_refund_is_retried_with_the_same_key(order, bank):
    refund = ask(order)
    bank.trouble = TimeoutError()
    assert sweep() == 0
    refund.refresh_from_db()
    assert (refund.status, order.payments.get().refunded) == ("pending", Decimal("20.00"))
    assert sweep(LATER - timedelta(seconds=1)) == 0
    assert bank.asked == [refund.key]
    bank.trouble = None
    assert sweep(LATER) == 1
    assert bank.asked == [refund.key] * 2
    assert bank.total == Decimal("20.00")


def test_another_worker_finishes_the_refund_of_a_killed_one(order, bank, monkeypatch):
    refund = ask(order)

    def killed(**_):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(refunds, "record_refund", killed)
        with pytest.raises(SystemExit):
            sweep()
    assert sweep() == 0
    assert sweep(LATER) == 1
    refund.refresh_from_db()
    order.refresh_from_db()
    assert (refund.status, order.payment_status, bank.total) == ("done", "refunded", Decimal("20.00"))


def test_declined_refund_can_be_requested_again(order, bank):
    refund = ask(order)
    bank.trouble = RefundDeclined("The card has expired.")
    assert sweep() == 1
    refund.refresh_from_db()
    order.refresh_from_db()
    assert (refund.status, refund.failure) == ("failed", "The card has expired.")
    assert (order.payment_status, order.payments.get().refunded) == ("paid", 0)
    assert not Event.objects.filter(topic="order.refunded").exists()
    bank.trouble = None
    ask(order)
    assert sweep() == 1
    order.refresh_from_db()
    assert order.payment_status == "refunded"


def test_refund_through_a_removed_gateway_fails_and_says_what_to_do(order, monkeypatch):
    refund = ask(order)
    monkeypatch.delitem(PROVIDERS, "demo")
    assert sweep() == 1
    refund.refresh_from_db()
    assert refund.status == "failed"
    assert "The shop must refund the payment itself." in refund.failure


def test_result_of_a_refund_is_recorded_once(shop, order, bank):
    refund = ask(order, "5.00")
    sweep()
    known = {"shop": shop, "refund": refund, "now": LATER}
    assert not record_refunded(**known, reference="again")
    assert not record_refund_failed(**known, why="late")
    order.refresh_from_db()
    assert (order.refunded, order.payments.get().refunded) == (Decimal("5.00"), Decimal("5.00"))


def test_another_shop_cannot_carry_out_a_refund(other_shop, order, bank):
    refund = ask(order)
    assert not carry_out_refund(shop=other_shop, refund=refund, now=NOW)
    assert bank.asked == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_refund_once(order, bank):
    for amount in ("1.00", "2.00", "3.00"):
        ask(order, amount)
    counts = run_concurrently(*[sweep] * 4)
    assert (sum(counts), sorted(bank.asked)) == (3, sorted(set(bank.asked)))
    order.refresh_from_db()
    assert (order.refunded, order.payment_status) == (Decimal("6.00"), "partially_refunded")
    assert bank.total == Decimal("6.00")


@pytest.mark.django_db(transaction=True)
def test_no_gateway_is_asked_inside_a_transaction(order, bank, monkeypatch):
    seen = []

    def refund(charge, *, key, amount):
        seen.append(connection.in_atomic_block)
        return RefundReport(amount, key=key)

    monkeypatch.setattr(bank, "refund", refund)
    ask(order)
    assert sweep() == 1
    assert seen == [False]

"""Each refund of a provider is one row, whoever made it, and whatever is told of it in which order."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from storefront.documents.jobs import issue_due_documents
from storefront.documents.models import Document
from storefront.orders.models import Order
from storefront.orders.queries import refund_record
from storefront.payments.models import Payment, Refund
from storefront.payments.providers.base import RefundReport, RefundStanding, Report, Standing
from storefront.payments.refunds import carry_out_refund, refundable, request_refund
from storefront.payments.settling import settle
from storefront.webhooks.models import Event
from tests.documents.factories import make_settings
from tests.payments.conftest import account_of, press, return_path
from tests.payments.refunding import record_refund_failed, record_refunded
from tests.payments.test_news import send
from tests.payments.test_redirect import later
from tests.races import run_concurrently
from tests.staff import admin_url

pytestmark = pytest.mark.django_db(transaction=True)

FIVE, TWO = Decimal("5.00"), Decimal("2.00")


@pytest.fixture
def order(bank, shop, shopper, mug) -> Order:
    """Paid at the bank: 9.50."""
    make_settings(shop)
    press(shopper, mug)
    bank.pay(account_of(bank))
    shopper.get(return_path())
    return Order.objects.get()


def look(shop, *refunds: RefundReport) -> None:
    """The provider has these refunds."""
    payment = Payment.objects.get()
    report = Report(Standing.PAID, captured=payment.captured, refunds=refunds)
    settle(shop=shop, payment=payment, report=report, source="look", now=timezone.now())


def rows() -> list[tuple[str, str, bool, Decimal]]:
    found = Refund.objects.order_by("pk")
    return [(row.reference, row.status, row.is_foreign, row.amount) for row in found]


def notes() -> list[tuple[Decimal, int]]:
    issue_due_documents(now=timezone.now() + timedelta(days=200), limit=100)
    found = Document.objects.filter(kind="credit_note").order_by("pk")
    return list(found.values_list("amount", "refund_id"))


def refunded_events() -> list[str]:
    return [event.data["refunded"] for event in Event.objects.filter(topic="order.refunded").order_by("pk")]


@pytest.mark.slow
@pytest.mark.rule("R-APP-46")
def test_one_made_at_the_bank_and_one_made_here_with_late_news_are_two(bank, shop, order, desk):
    account_of(bank).refunds["elsewhere"] = FIVE
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    foreign = Refund.objects.get()
    assert notes() == [(FIVE, foreign.pk)]
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    assert carry_out_refund(shop=shop, refund=own, now=timezone.now())
    order.refresh_from_db()
    assert (order.refunded, refunded_events()) == (7, ["5.00", "7.00"])
    assert notes() == [(FIVE, foreign.pk), (TWO, own.pk)]
    for _ in range(2):
        assert send(shop, *bank.news(account_of(bank))).status_code == 200
        later(hours=2)
    assert (refunded_events(), len(notes())) == (["5.00", "7.00"], 2)
    assert rows() == [("re_elsewhere", "done", True, FIVE), (f"re_{own.key}", "done", False, TWO)]
    assert [refund_record(each)["origin"] for each in Refund.objects.order_by("pk")] == ["provider", "shop"]
    assert "made at the provider" in desk.get(admin_url(order, "change")).content.decode()


def test_news_before_the_answer_of_our_own_call_name_it(bank, shop, order):
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    account_of(bank).refunds[str(own.key)] = TWO
    assert send(shop, *bank.news(account_of(bank))).status_code == 200
    assert (rows(), refunded_events()) == ([(f"re_{own.key}", "done", False, TWO)], ["2.00"])
    assert not record_refunded(shop=shop, refund=own, reference=f"re_{own.key}", now=timezone.now())
    assert (len(rows()), refunded_events(), notes()) == (1, ["2.00"], [(TWO, own.pk)])


@pytest.mark.slow
def test_a_provider_without_our_keys_names_ours_in_its_answer(shop, order):
    """Until that is there, one of the same amount may be ours."""
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    look(shop, RefundReport(TWO, "re_1"), RefundReport(FIVE, "re_2"))
    assert rows() == [("", "pending", False, TWO), ("re_2", "done", True, FIVE)]
    record_refunded(shop=shop, refund=own, reference="re_1", now=timezone.now())
    look(shop, RefundReport(TWO, "re_1"), RefundReport(FIVE, "re_2"))
    assert rows() == [("re_1", "done", False, TWO), ("re_2", "done", True, FIVE)]


def test_several_in_one_answer_are_told_one_by_one(shop, order):
    """Each event has what had gone back by then."""
    look(shop, RefundReport(TWO, "re_1"), RefundReport(FIVE, "re_2"))
    look(
        shop,
        RefundReport(TWO, "re_1", standing=RefundStanding.FAILED),
        RefundReport(FIVE, "re_2"),
        RefundReport(TWO, "re_3"),
    )
    for event in Event.objects.filter(topic="order.refunded"):
        done = sum(Decimal(each["amount"]) for each in event.data["refunds"] if each["status"] == "done")
        assert Decimal(event.data["refunded"]) == done
    assert refunded_events() == ["2.00", "7.00", "7.00"]
    assert [(note, Refund.objects.get(pk=pk).reference) for note, pk in notes()] == [(FIVE, "re_2"), (TWO, "re_3")]


def test_one_that_takes_days_counts_once_it_is_there(bank, shop, order):
    bank.is_slow = True
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    later()
    own.refresh_from_db()
    assert (own.status, own.reference, refunded_events(), notes()) == ("pending", f"re_{own.key}", [], [])
    payment = Payment.objects.get()
    assert (payment.returned, payment.refunded, refundable(payment)) == (0, TWO, Decimal("7.50"))
    calls = bank.calls.count("refund")
    later(minutes=30)
    assert bank.calls.count("refund") == calls, "it is not sent again"
    account_of(bank).pending.clear()
    later(hours=2)
    assert (rows(), refunded_events()) == ([(f"re_{own.key}", "done", False, TWO)], ["2.00"])


def test_one_on_its_way_can_fail(bank, shop, order):
    bank.is_slow = True
    own = request_refund(shop=shop, order=order, now=timezone.now())
    later()
    account_of(bank).failed.add(str(own.key))
    later(hours=2)
    own.refresh_from_db()
    order.refresh_from_db()
    assert (own.status, own.failure, order.payment_status) == ("failed", "account closed", "paid")
    assert (refunded_events(), Event.objects.filter(topic="refund.failed").count(), notes()) == ([], 1, [])


def test_one_that_was_declined_and_went_back_after_all_is_another(shop, order):
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    record_refund_failed(shop=shop, refund=own, why="Not now", now=timezone.now())
    look(shop, RefundReport(TWO, "re_1", own.key))
    assert rows() == [("", "failed", False, TWO), ("re_1", "done", True, TWO)]


def test_another_amount_than_was_asked_for_is_not_believed(shop, order):
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    look(shop, RefundReport(FIVE, "re_1", own.key))
    assert rows() == [("", "pending", False, TWO)]
    assert Payment.objects.get().alert == "The provider refunded a different amount from the one requested."


@pytest.mark.slow
def test_a_credit_note_of_one_that_failed_counts_for_the_next(bank, shop, order):
    first = request_refund(shop=shop, order=order, amount=FIVE, now=timezone.now())
    later()
    assert notes() == [(FIVE, first.pk)]
    account_of(bank).failed.add(str(first.key))
    later(hours=2)
    assert notes() == [(FIVE, first.pk)]
    second = request_refund(shop=shop, order=order, amount=Decimal("7.00"), now=timezone.now())
    later()
    third = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    later()
    assert notes() == [(FIVE, first.pk), (TWO, second.pk), (TWO, third.pk)]


@pytest.mark.slow
def test_news_answers_and_papers_at_once_count_each_once(bank, shop, order):
    for _ in range(3):
        request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    account_of(bank).refunds["elsewhere"] = TWO

    def hear() -> None:
        send(shop, *bank.news(account_of(bank)))

    run_concurrently(hear, later, hear, later, notes, notes)
    later(minutes=5)
    order.refresh_from_db()
    assert (order.refunded, bank.held) == (8, Decimal("1.50"))
    assert sorted(map(Decimal, refunded_events())) == [2, 4, 6, 8]
    assert sorted(notes()) == [(TWO, row.pk) for row in Refund.objects.order_by("pk")]
    assert len({row[0] for row in rows()}) == 4


@pytest.mark.parametrize("ours_first", [True, False])
def test_ours_and_one_of_the_same_amount_are_two_in_whatever_order_they_are_told(bank, shop, order, ours_first):
    """The answer to ours was lost."""
    own = request_refund(shop=shop, order=order, amount=TWO, now=timezone.now())
    told = [RefundReport(TWO, "re_own", own.key), RefundReport(TWO, "re_bank")]
    look(shop, *(told if ours_first else reversed(told)))
    order.refresh_from_db()
    assert order.refunded == TWO * 2
    assert {row[0]: row[2] for row in rows()} == {"re_own": False, "re_bank": True}


@pytest.mark.slow
def test_what_the_provider_gave_back_twice_counts_up_to_what_was_paid(shop, order):
    for reference in ("re_1", "re_2"):
        look(shop, RefundReport(order.total, reference))
    order.refresh_from_db()
    assert [row[1] for row in rows()] == ["done", "done"]
    assert (order.refunded, Payment.objects.get().refunded) == (order.total, order.total)
    assert refunded_events() == ["9.50"]

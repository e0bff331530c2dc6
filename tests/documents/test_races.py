"""Numbers without a gap and without a repetition: workers at once, first numbers at once, refusals between, kills."""

import os
import signal

import pytest
from django.db import connection, connections

from storefront.documents import issuing
from storefront.documents.issuing import (
    AlreadyInvoiced,
    NothingToCorrect,
    correct_invoice,
    issue_documents,
    issue_invoice,
)
from storefront.documents.models import Document, NumberSeries
from storefront.documents.numbering import begin_series
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.refunds import request_refund
from tests.documents.factories import issued, make_settings, numbers, paid_order, refund, work
from tests.payments.refunding import record_refunded
from tests.races import run_concurrently
from tests.shops.factories import NOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def two_shops(shop, other_shop):
    """Both count the same series."""
    make_settings(shop)
    make_settings(other_shop)
    return shop, other_shop


def test_workers_at_once_give_each_order_one_number_without_gaps(shop, other_shop):
    orders = [paid_order(each) for each in [shop] * 6 + [other_shop] * 3]
    run_concurrently(*[work] * 4)
    # A worker that waited for another's transaction can find what it looked for done.
    work()
    assert [len(issued(order)) for order in orders] == [1] * 9
    assert (numbers(shop), numbers(other_shop)) == ([1, 2, 3, 4, 5, 6], [1, 2, 3])


def test_one_order_issued_by_many_at_once_gets_one_invoice(shop):
    order = paid_order(shop)
    run_concurrently(*[lambda: issue_documents(shop=shop, order=order, now=NOW)] * 6)
    assert [document.number for document in issued(order)] == ["2026-00001"]
    second = paid_order(shop)
    by_hand = [lambda: issue_invoice(shop=shop, order=second, now=NOW)] * 4
    answers = run_concurrently(*by_hand, work, refusal=AlreadyInvoiced)
    assert len([each for each in answers if isinstance(each, AlreadyInvoiced)]) >= 3
    assert (len(issued(second)), numbers(shop)) == (1, [1, 2])


def test_first_numbers_of_a_series_at_once(shop):
    orders = [paid_order(shop) for _ in range(6)]
    run_concurrently(*(lambda order=order: issue_documents(shop=shop, order=order, now=NOW) for order in orders))
    assert numbers(shop) == [1, 2, 3, 4, 5, 6]


def test_failures_between_leave_no_gap(shop, monkeypatch):
    orders = [paid_order(shop) for _ in range(8)]
    failing, make = {order.pk for order in orders[::2]}, issuing.send_document_mail

    class Mail:
        """The last step of an issue fails for some orders."""

        def enqueue(self, shop_id: int, document_id: int) -> None:
            if Document.objects.get(pk=document_id).order_id in failing:
                raise ValueError("broken")
            make.enqueue(shop_id, document_id)

    monkeypatch.setattr(issuing, "send_document_mail", Mail())
    calls = (lambda order=order: issue_documents(shop=shop, order=order, now=NOW) for order in orders)
    run_concurrently(*calls, refusal=ValueError)
    assert numbers(shop) == [1, 2, 3, 4]
    assert NumberSeries.objects.get(shop=shop).next_number == 5
    monkeypatch.undo()
    work()
    assert numbers(shop) == list(range(1, 9))


def test_refunds_cancellation_and_correction_at_once_credit_what_was_given_back(shop):
    order = paid_order(shop, "10.00")
    work()
    refunds = [request_refund(shop=shop, order=order, amount=None if i == 2 else 3, now=NOW) for i in range(3)]
    done = (lambda made=made: record_refunded(shop=shop, refund=made, reference="r", now=NOW) for made in refunds)
    run_concurrently(*done, *[work] * 3)
    work()
    notes = [document for document in issued(order) if document.kind == "credit_note"]
    assert sum(note.amount for note in notes) == Order.objects.get(pk=order.pk).refunded == order.total
    second = paid_order(shop, "10.00")
    work()
    refund(second, "4.00")
    run_concurrently(
        lambda: payments.cancel_order(shop=shop, order=second, now=NOW),
        lambda: correct_invoice(shop=shop, order=second, buyer=["Ada"], now=NOW),
        work,
        refusal=NothingToCorrect,
    )
    work()
    found = issued(second)
    invoices = [document.amount for document in found if document.kind == "invoice"]
    credited = [document.amount for document in found if document.kind == "credit_note"]
    # If the cancellation is credited first, there is nothing left to correct.
    assert (len(invoices) in (1, 2), sum(invoices)) == (True, sum(credited))
    assert numbers(shop, "CN-2026-") == list(range(1, len(notes) + len(credited) + 1))


def test_choosing_the_first_number_while_it_is_given(shop):
    order = paid_order(shop)
    run_concurrently(
        lambda: issue_documents(shop=shop, order=order, now=NOW),
        lambda: begin_series(shop=shop, prefix="{year}-", at=50, now=NOW),
        refusal=Exception,
    )
    (given,) = numbers(shop)
    assert NumberSeries.objects.get(shop=shop).next_number == given + 1


@pytest.mark.proof
@pytest.mark.parametrize("step", ["take_number", "_store", "issue_documents"])
def test_killed_worker_leaves_neither_gap_nor_repetition(shop, step):
    """Right after it took the number, stored the document, committed."""
    orders = [paid_order(shop) for _ in range(2)]
    # The worker connects anew: a connection cannot be shared by two processes.
    connections.close_all()
    if connection.vendor == "postgresql":
        connection.close_pool()
    worker = os.fork()
    if worker == 0:
        run = getattr(issuing, step)

        def run_and_die(*args, **given):
            run(*args, **given)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(issuing, step, run_and_die)
        issuing.issue_documents(shop=shop, order=orders[0], now=NOW)
        os._exit(1)
    _, status = os.waitpid(worker, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    work()
    assert [len(issued(order)) for order in orders] == [1, 1]
    assert numbers(shop) == [1, 2]

"""What the worker issues: an invoice for a paid order, a credit note for what is given back, and nothing else."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.db.models import RestrictedError

from storefront.documents import issuing, records
from storefront.documents.issuing import (
    AlreadyInvoiced,
    InvoicesOff,
    NothingToCorrect,
    NotInvoiceable,
    correct_invoice,
    issue_invoice,
)
from storefront.documents.models import Document, DueOrder, InvoiceSettings, NumberSeries
from storefront.documents.numbering import SeriesInUse, begin_series
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.models import Payment, Refund
from storefront.payments.providers.base import RefundReport, Report, Standing
from storefront.payments.refunds import request_refund
from storefront.payments.settling import settle
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product
from tests.documents.factories import issued, make_settings, numbers, paid_order, refund, work
from tests.orders.factories import Promise, make_order, sale_line
from tests.shops.factories import NOW

D = Decimal


def test_a_paid_order_gets_its_invoice_once(shop, other_shop, seller, order):
    assert work() == 0
    payments.mark_paid(shop=shop, order=order, now=NOW)
    assert (work(), work()) == (1, 0)
    (invoice,) = issued(order)
    assert (invoice.kind, invoice.number, invoice.amount, invoice.issued_at) == (
        "invoice",
        "2026-00001",
        D("34.90"),
        NOW,
    )
    record = invoice.record
    assert record["seller"]["name"] == "Lighthouse GmbH"
    assert record["buyer"] == ["Ada Lovelace", "Hafenstraße 1", "24103 Kiel", "Germany"]
    assert [(line["name"], line["sku"], line["qty"], line["total"]) for line in record["lines"]] == [
        ("Mug", "M1", 3, "30.00")
    ]
    assert record["payments"] == [{"name": "Invoice or bank transfer", "amount": "34.90"}]
    assert AuditEntry.objects.filter(shop=shop, action="invoice.issued").count() == 1
    assert not DueOrder.objects.exists()
    assert not Document.objects.filter(shop=other_shop).exists()


def test_sums_of_the_invoice_are_those_of_the_order(shop, seller, order):
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    record = issued(order)[0].record
    lines = sum(D(line["total"]) for line in record["lines"])
    taxes = sum(D(tax["amount"]) for tax in record["taxes"])
    assert (lines, taxes, D(record["total"])) == (order.subtotal, order.tax, order.total)
    assert D(record["net"]) + taxes == order.total
    assert lines + D(record["delivery"]["amount"]) == order.total


@pytest.mark.parametrize("outcome", ["waits", "is cancelled", "is authorised", "is refused"])
def test_an_unpaid_order_gets_no_invoice(shop, seller, outcome):
    promise = Promise("bank", D("9.50"), "acc_1", is_held=True) if outcome in ("is authorised", "is refused") else None
    order = make_order(shop, sale_line(make_product(shop, price=D("9.50"))), promise=promise)
    if outcome == "is cancelled":
        payments.cancel_order(shop=shop, order=order, now=NOW)
    if outcome == "is refused":
        report = Report(Standing.CANCELLED)
        settle(shop=shop, payment=Payment.objects.get(), report=report, source="call", now=NOW)
    work()
    assert issued(order) == []
    with pytest.raises(NotInvoiceable):
        issue_invoice(shop=shop, order=order, now=NOW)
    assert not NumberSeries.objects.exists()


def test_a_free_order_gets_no_invoice(shop, seller):
    order = make_order(shop, sale_line(make_product(shop, price=D("0.00"))), promise=Promise("", D("0.00")))
    assert order.payment_status == "paid"
    assert work() == 0
    with pytest.raises(NotInvoiceable):
        issue_invoice(shop=shop, order=order, now=NOW)


def test_a_shop_that_issues_none_issues_none_and_an_order_of_that_time_gets_one_by_hand(shop):
    order = paid_order(shop)
    assert work() == 1
    assert issued(order) == []
    with pytest.raises(InvoicesOff):
        issue_invoice(shop=shop, order=order, now=NOW)
    make_settings(shop)
    assert work() == 0
    issue_invoice(shop=shop, order=order, now=NOW)
    with pytest.raises(AlreadyInvoiced):
        issue_invoice(shop=shop, order=order, now=NOW)
    assert [document.number for document in issued(order)] == ["2026-00001"]


def test_each_refund_gets_its_credit_note(shop, seller, order):
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    refunds = [refund(order, amount) for amount in ("10.00", "0.01", None)]
    work()
    invoice, *notes = issued(order)
    assert [(note.number, note.amount, note.refund) for note in notes] == [
        ("CN-2026-00001", D("10.00"), refunds[0]),
        ("CN-2026-00002", D("0.01"), refunds[1]),
        ("CN-2026-00003", D("24.89"), refunds[2]),
    ]
    assert {note.invoice for note in notes} == {invoice}
    assert notes[0].record["invoice"] == {"number": "2026-00001", "issued_on": invoice.record["issued_on"]}
    for i, tax in enumerate(invoice.record["taxes"]):
        assert sum(D(note.record["taxes"][i]["amount"]) for note in notes) == D(tax["amount"])
    for note in notes:
        taxes = sum(D(tax["amount"]) for tax in note.record["taxes"])
        assert D(note.record["net"]) + taxes == D(note.record["total"]) == note.amount


def test_a_whole_refund_repeats_the_invoices_lines(shop, seller, order):
    payments.mark_paid(shop=shop, order=order, now=NOW)
    refund(order)
    work()
    invoice, note = issued(order)
    for name in ("lines", "subtotal", "discounts", "delivery", "taxes", "total", "net"):
        assert note.record[name] == invoice.record[name]


def test_a_refund_that_only_the_provider_told_of_gets_a_credit_note(shop, seller):
    order = paid_order(shop)
    report = Report(Standing.PAID, captured=D("9.50"), refunds=(RefundReport(D("2.00"), "re_1"),))
    settle(shop=shop, payment=order.payments.get(), report=report, source="news", now=NOW)
    work()
    _, note = issued(order)
    assert (note.amount, note.refund, note.refund.is_foreign) == (D("2.00"), Refund.objects.get(), True)


def test_a_requested_refund_gets_no_credit_note_until_money_went_back(shop, seller):
    order = paid_order(shop)
    request_refund(shop=shop, order=order, now=NOW)
    work()
    assert [document.kind for document in issued(order)] == ["invoice"]


def test_cancelling_credits_the_invoice_and_a_later_refund_nothing_more(shop, seller):
    order = paid_order(shop)
    work()
    payments.cancel_order(shop=shop, order=order, now=NOW)
    work()
    refund(order)
    work()
    invoice, note = issued(order)
    assert (note.amount, note.record["reason"]) == (invoice.amount, "cancellation")


def test_cancelling_after_a_part_was_refunded_credits_the_rest(shop, seller):
    order = paid_order(shop)
    refund(order, "2.00")
    payments.cancel_order(shop=shop, order=order, now=NOW)
    work()
    _, *notes = issued(order)
    assert [(note.amount, note.record["reason"]) for note in notes] == [
        (D("2.00"), "refund"),
        (D("7.50"), "cancellation"),
    ]


def test_an_invoice_is_credited_also_when_the_shop_issues_no_more(shop, seller):
    order = paid_order(shop)
    work()
    InvoiceSettings.objects.update(is_on=False)
    refund(order)
    work()
    assert [document.kind for document in issued(order)] == ["invoice", "credit_note"]


def test_an_issued_document_never_changes(shop, seller):
    order = paid_order(shop)
    work()
    (before,) = issued(order)
    Order.objects.update(billing_address={"name": "Somebody else"}, email="other@example.com")
    InvoiceSettings.objects.update(legal_name="Another Ltd")
    work()
    (after,) = issued(order)
    assert after.record == before.record
    for change in ({"record": {}}, {"number": "X"}, {"amount": D("1.00")}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Document.objects.filter(pk=before.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        before.save()
    with pytest.raises((RestrictedError, IntegrityError)), transaction.atomic():
        order.delete()


def test_a_shop_is_deleted_with_its_documents(shop, other_shop, seller):
    make_settings(other_shop)
    order, theirs = paid_order(shop), paid_order(other_shop)
    refund(order, "2.00")
    work()
    shop.delete()
    assert list(Document.objects.all()) == issued(theirs)


def test_correcting_credits_the_invoice_and_issues_another(shop, seller):
    order = paid_order(shop)
    work()
    refund(order, "2.00")
    work()
    correct_invoice(shop=shop, order=order, buyer=["Analytical Engines Ltd", "London"], now=NOW)
    old, first, rest, new, again = issued(order)
    assert (old.revision, new.revision, new.record["replaces"]) == (1, 2, old.number)
    assert (new.record["buyer"], old.record["buyer"][0]) == (["Analytical Engines Ltd", "London"], "Ada Lovelace")
    assert [(note.invoice, note.amount) for note in (first, rest, again)] == [
        (old, D("2.00")),
        (old, D("7.50")),
        (new, D("2.00")),
    ]
    assert work() == 0
    assert issued(order) == [old, first, rest, new, again]
    refund(order)
    work()
    with pytest.raises(NothingToCorrect):
        correct_invoice(shop=shop, order=order, buyer=["X"], now=NOW)


def test_numbers_of_shops_and_years_are_counted_apart(shop, other_shop, seller):
    make_settings(other_shop, invoice_prefix="R")
    orders = [paid_order(each) for each in (shop, other_shop, shop)]
    work()
    assert [issued(order)[0].number for order in orders] == ["2026-00001", "R00001", "2026-00002"]
    order = paid_order(shop)
    # In Berlin it is already the next year.
    work(NOW.replace(year=2026, month=12, day=31, hour=23, minute=30))
    assert issued(order)[0].number == "2027-00001"


def test_one_prefix_is_one_series(shop):
    make_settings(shop, invoice_prefix="{year}-", credit_note_prefix="{year}-")
    order = paid_order(shop)
    refund(order, "2.00")
    work()
    assert [document.number for document in issued(order)] == ["2026-00001", "2026-00002"]


def test_the_first_number_can_be_chosen_and_later_none(shop, other_shop, seller):
    begin_series(shop=shop, prefix="{year}-", at=412, now=NOW)
    orders = [paid_order(shop), paid_order(shop)]
    work()
    assert [issued(order)[0].number for order in orders] == ["2026-00412", "2026-00413"]
    for at in (1, 413, 415):
        with pytest.raises(SeriesInUse, match="2026-00414"):
            begin_series(shop=shop, prefix="{year}-", at=at, now=NOW)
    begin_series(shop=shop, prefix="{year}-", at=414, now=NOW)
    begin_series(shop=other_shop, prefix="{year}-", at=7, now=NOW)
    assert AuditEntry.objects.filter(action="number_series.updated").count() == 2


def test_what_fails_takes_no_number_and_holds_up_no_other_order(shop, seller, monkeypatch):
    broken, fine = paid_order(shop), paid_order(shop)
    make = records.invoice_record

    def fail(**given):
        if given["order"].pk == broken.pk:
            raise ValueError("broken")
        return make(**given)

    monkeypatch.setattr(issuing, "invoice_record", fail)
    assert work() == 1
    assert [document.number for document in issued(fine)] == ["2026-00001"]
    monkeypatch.undo()
    assert work() == 0
    assert work(NOW + timedelta(minutes=6)) == 1
    assert (issued(broken)[0].number, numbers(shop)) == ("2026-00002", [1, 2])

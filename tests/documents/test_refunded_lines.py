"""Credit notes of refunds by line name what was refunded."""

from decimal import Decimal

import pytest

from storefront.documents.drawing import pdf_of
from storefront.documents.issuing import correct_invoice
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.line_refunds import Pieces
from storefront.payments.refunds import request_refund
from tests.catalogue.factories import make_product
from tests.documents.factories import issued, texts_of, work
from tests.orders.factories import Promise, add_payment, make_order, sale_line
from tests.payments.refunding import record_refund_failed, record_refunded
from tests.shops.factories import NOW


@pytest.fixture
def paid(shop, seller) -> Order:
    """Three mugs for 10.00 together, a pot, and 5.00 for the delivery."""
    mugs = sale_line(make_product(shop, "Mug", stock_qty=9), 3, line_total=Decimal("10.00"))
    pot = sale_line(make_product(shop, "Pot", price=Decimal("20.00"), stock_qty=9))
    order = make_order(shop, mugs, pot, shipping=Decimal("5.00"), total=Decimal("35.00"))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    return order


def credited(order: Order, *pieces: Pieces, **given) -> list[tuple[str, int, str, str]]:
    made = request_refund(shop=order.shop, order=order, lines=pieces, now=NOW, **given)
    record_refunded(shop=order.shop, refund=made, reference="re_1", now=NOW)
    work()
    note = issued(order)[-1].record
    assert Decimal(note["total"]) == sum(Decimal(line["total"]) for line in note["lines"])
    return [(line["name"], line["qty"], line["unit_price"], line["total"]) for line in note["lines"]]


def test_the_lines_are_named_with_what_was_paid_for_them(paid):
    mugs, pot = paid.lines.all()
    assert credited(paid, Pieces(mugs.pk, 2), Pieces(pot.pk, 1), shipping=Decimal("5.00"), amount=Decimal("31.00")) == [
        # Two of three for 10.00 have no price each in whole cents.
        ("2 × Mug", 1, "6.67", "6.67"),
        ("Pot", 1, "20.00", "20.00"),
        ("Delivery", 1, "5.00", "5.00"),
        ("Not refunded", 1, "-0.67", "-0.67"),
    ]
    (page,) = texts_of(pdf_of([issued(paid)[-1].record]))
    for text in ("Mug", "Pot", "Delivery", "Not refunded"):
        assert text in page


def test_a_refund_of_an_amount_names_the_invoice(paid):
    ((name, *_),) = credited(paid, amount=Decimal("3.00"))
    assert name == f"Refund: part of invoice {issued(paid)[0].number}"


def test_a_refund_of_everything_repeats_the_invoice(paid):
    mugs, pot = paid.lines.all()
    made = request_refund(
        shop=paid.shop, order=paid, lines=[Pieces(mugs.pk, 3), Pieces(pot.pk, 1)], shipping=Decimal("5.00"), now=NOW
    )
    record_refunded(shop=paid.shop, refund=made, reference="re_1", now=NOW)
    work()
    invoice, note = issued(paid)
    assert note.record["lines"] == invoice.record["lines"]


def tax(percent: str, base: str, amount: str) -> dict[str, str]:
    return {"name": "VAT", "percent": percent, "base": base, "amount": amount, "treatment": "taxed"}


def test_pieces_are_credited_with_their_own_rates(shop, seller):
    """Two books at 7%; a mug, and the delivery, at 19%."""
    book = sale_line(
        make_product(shop, "Book", price=Decimal("10.70"), stock_qty=9),
        2,
        tax=Decimal("1.40"),
        tax_lines=[tax("7", "20.00", "1.40")],
    )
    mug = sale_line(
        make_product(shop, "Mug", price=Decimal("11.90"), stock_qty=9),
        tax=Decimal("1.90"),
        tax_lines=[tax("19", "10.00", "1.90")],
    )
    amounts = {"shipping": Decimal("5.95"), "tax": Decimal("4.25"), "total": Decimal("39.25")}
    rates = [tax("7", "20.00", "1.40"), tax("19", "15.00", "2.85")]
    order = make_order(shop, book, mug, shipping_method="Parcel", tax_lines=rates, **amounts)
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    books, _ = order.lines.all()

    credited(order, Pieces(books.pk, 1))
    credited(order, shipping=Decimal("5.95"))
    credited(order, amount=Decimal("2.26"))
    rest = request_refund(shop=shop, order=order, now=NOW)
    record_refunded(shop=shop, refund=rest, reference="re_2", now=NOW)
    work()

    _, one_book, delivery, part, last = (
        [(each["base"], each["amount"]) for each in document.record["taxes"]] for document in issued(order)
    )
    assert one_book == [("10.00", "0.70"), ("0.00", "0.00")]
    assert delivery == [("0.00", "0.00"), ("5.00", "0.95")]
    # A tenth of the rest, at each rate.
    assert part == [("1.00", "0.07"), ("1.00", "0.19")]
    assert last == [("9.00", "0.63"), ("9.00", "1.71")]


@pytest.fixture
def two_rates(shop, seller) -> Order:
    """A book for 10.70 at 7% and a mug for 11.90 at 19%, paid with two payments: 12.60 and 10.00."""
    lines = [
        sale_line(
            make_product(shop, name, price=Decimal(price), stock_qty=9),
            tax=Decimal(amount),
            tax_lines=[tax(percent, "10.00", amount)],
        )
        for name, price, percent, amount in (("Book", "10.70", "7", "0.70"), ("Mug", "11.90", "19", "1.90"))
    ]
    rates = [tax("7", "10.00", "0.70"), tax("19", "10.00", "1.90")]
    amounts = {"tax": Decimal("2.60"), "total": Decimal("22.60")}
    order = make_order(shop, *lines, promise=Promise("manual", Decimal("12.60")), tax_lines=rates, **amounts)
    add_payment(order, Promise("manual", Decimal("10.00")))
    payments.mark_paid(shop=shop, order=order, now=NOW)
    work()
    return order


def taxes(document) -> list[str]:
    return [each["amount"] for each in document.record["taxes"]]


def test_a_refund_that_was_carried_out_is_credited_and_a_pending_one_is_not(shop, two_rates):
    book, mug = two_rates.lines.all()
    request_refund(shop=shop, order=two_rates, lines=[Pieces(book.pk, 1)], now=NOW)
    done = request_refund(shop=shop, order=two_rates, lines=[Pieces(mug.pk, 1)], now=NOW)
    for part in (done, *done.parts.all()):
        record_refunded(shop=shop, refund=part, reference=f"re_{part.pk}", now=NOW)
    work()
    (note,) = issued(two_rates)[1:]
    assert (note.refund, note.amount, taxes(note)) == (done, Decimal("11.90"), ["0.00", "1.90"])


def test_a_corrected_invoice_is_credited_with_the_pieces_rates_again(shop, two_rates):
    credited(two_rates, Pieces(two_rates.lines.first().pk, 1))
    correct_invoice(shop=shop, order=two_rates, buyer=["Ada Lovelace"], now=NOW)
    assert taxes(issued(two_rates)[-1]) == ["0.70", "0.00"]


@pytest.mark.parametrize("first_fails", [False, True])
def test_pieces_that_two_payments_pay_back_are_one_credit_note(shop, two_rates, first_fails):
    """Once both have an outcome, over what went back."""
    pieces = [Pieces(line.pk, 1) for line in two_rates.lines.all()]
    first = request_refund(shop=shop, order=two_rates, lines=pieces, amount=Decimal("20.00"), now=NOW)
    second = first.parts.get()
    record_refunded(shop=shop, refund=second, reference="re_2", now=NOW)
    work()
    assert len(issued(two_rates)) == 1
    if first_fails:
        record_refund_failed(shop=shop, refund=first, why="Closed", now=NOW)
    else:
        record_refunded(shop=shop, refund=first, reference="re_1", now=NOW)
    work()
    (note,) = issued(two_rates)[1:]
    less, rates = ("-12.60", ["0.31", "0.84"]) if first_fails else ("-2.60", ["0.62", "1.68"])
    assert (note.refund, note.amount, taxes(note)) == (first, 10 if first_fails else 20, rates)
    names = [(line["name"], line["total"]) for line in note.record["lines"]]
    assert names == [("Book", "10.70"), ("Mug", "11.90"), ("Not refunded", less)]
    assert (work(), len(issued(two_rates))) == (0, 2)


def test_an_order_from_before_lines_kept_their_taxes_is_credited_in_proportion(shop, two_rates):
    two_rates.lines.update(tax_lines=[])
    credited(two_rates, Pieces(two_rates.lines.last().pk, 1))
    assert taxes(issued(two_rates)[-1]) == ["0.37", "1.00"]

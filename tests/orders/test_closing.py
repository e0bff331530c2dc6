"""Sending no more of an order of which a part was sent."""

import pytest
from django.db import IntegrityError, transaction

from storefront.orders.actions import OrderNotOpen
from storefront.orders.fulfilling import (
    NothingSent,
    NotLeftToFulfil,
    cancel_fulfilment,
    close_order,
    fulfil_order,
)
from storefront.orders.models import Order, OrderLine
from storefront.payments.actions import cancel_order
from storefront.payments.line_refunds import NotLeftToRefund, Pieces
from storefront.payments.refunds import request_refund
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.payments.conftest import stock
from tests.payments.refunding import record_refund_failed
from tests.races import run_concurrently
from tests.shops.factories import NOW


def state(order) -> tuple[str, str, list[tuple[int, int, int]]]:
    order.refresh_from_db()
    return order.status, order.fulfilment_status, [(e.fulfilled_qty, e.closed_qty, e.left) for e in order.lines.all()]


def send(order, line, qty):
    return fulfil_order(shop=order.shop, order=order, pieces=[(line.pk, qty)], now=NOW)


def test_the_rest_goes_back_into_stock_and_the_order_counts_as_sent(shop, order, mug):
    mugs, _ = order.lines.all()
    send(order, mugs, 1)
    before = stock(mug)
    close_order(shop=shop, order=order, now=NOW)
    assert state(order) == ("fulfilled", "fulfilled", [(1, 2, 0), (0, 1, 0)])
    assert stock(mug) == before + 2
    row = mug.adjustments.latest("pk")
    assert (row.reference, row.reason) == (f"order {order.number}", "Not sent")
    assert Event.objects.filter(shop=shop).latest("pk").topic == "order.updated"
    with pytest.raises(OrderNotOpen):
        close_order(shop=shop, order=order, now=NOW)


def test_without_anything_sent_it_is_refused(shop, order):
    with pytest.raises(NothingSent):
        close_order(shop=shop, order=order, now=NOW)
    assert state(order)[:2] == ("open", "unfulfilled")


def test_another_shops_order_is_not_found(shop, other_shop, order):
    send(order, order.lines.first(), 1)
    with pytest.raises(Order.DoesNotExist):
        close_order(shop=other_shop, order=order, now=NOW)
    assert state(order)[:2] == ("open", "partially_fulfilled")


def test_what_is_not_sent_any_more_can_still_be_refunded_and_goes_back_once(shop, paid, mug):
    mugs, pot = paid.lines.all()
    send(paid, mugs, 1)
    close_order(shop=shop, order=paid, now=NOW)
    before = stock(mug)
    rest = [Pieces(mugs.pk, 3, restock=True), Pieces(pot.pk, 1, restock=True)]
    made = request_refund(shop=shop, order=paid, lines=rest, now=NOW)
    # Two of the three were put back when the order was closed; the third came back.
    assert (stock(mug) - before, made.amount) == (1, paid.total - paid.shipping)


def test_pieces_that_were_closed_are_refunded_as_not_sent(shop, paid, mug):
    mugs = paid.lines.first()
    made = send(paid, mugs, 1)
    close_order(shop=shop, order=paid, now=NOW)
    before = stock(mug)
    with pytest.raises(NotLeftToRefund, match="1 piece that were sent"):
        request_refund(shop=shop, order=paid, lines=[Pieces(mugs.pk, 2, sent=True)], now=NOW)
    request_refund(shop=shop, order=paid, lines=[Pieces(mugs.pk, 2, restock=True, sent=False)], now=NOW)
    assert stock(mug) == before
    assert state(paid)[2][0] == (1, 0, 0)
    request_refund(shop=shop, order=paid, lines=[Pieces(mugs.pk, 1, restock=True, sent=True)], now=NOW)
    assert stock(mug) == before + 1
    cancel_fulfilment(shop=shop, order=paid, fulfilment_id=made.pk, now=NOW)
    assert state(paid)[2][0] == (0, 0, 0)


def test_a_refund_of_closed_pieces_that_failed_leaves_them_closed(shop, paid, mug):
    mugs = paid.lines.first()
    send(paid, mugs, 1)
    close_order(shop=shop, order=paid, now=NOW)
    made = request_refund(shop=shop, order=paid, lines=[Pieces(mugs.pk, 2, sent=False)], now=NOW)
    record_refund_failed(shop=shop, refund=made, why="Closed", now=NOW)
    assert state(paid) == ("fulfilled", "fulfilled", [(1, 2, 0), (0, 1, 0)])


def test_a_fulfilment_that_did_not_happen_is_left_to_send_again(shop, order):
    mugs = order.lines.first()
    made = send(order, mugs, 2)
    close_order(shop=shop, order=order, now=NOW)
    cancel_fulfilment(shop=shop, order=order, fulfilment_id=made.pk, now=NOW)
    assert state(order) == ("open", "unfulfilled", [(0, 1, 2), (0, 1, 0)])
    cancel_order(shop=shop, order=order, now=NOW)
    assert [line.restocked_qty for line in order.lines.all()] == [3, 1]


def test_the_database_keeps_these_pieces_within_what_was_sold(order):
    with pytest.raises(IntegrityError), transaction.atomic():
        OrderLine.objects.filter(pk=order.lines.first().pk).update(fulfilled_qty=2, closed_qty=2)


@pytest.mark.django_db(transaction=True)
def test_of_one_that_sends_the_last_piece_and_one_that_closes_one_gets_it(shop):
    order = make_order(shop, sale_line(make_product(shop, stock_qty=9), 2))
    line = order.lines.get()
    send(order, line, 1)
    calls = [lambda: send(order, line, 1), lambda: close_order(shop=shop, order=order, now=NOW)]
    answers = run_concurrently(*calls, refusal=(NotLeftToFulfil, OrderNotOpen))
    assert sum(isinstance(answer, NotLeftToFulfil | OrderNotOpen) for answer in answers) == 1
    line.refresh_from_db()
    assert (line.fulfilled_qty + line.closed_qty, line.left) == (2, 0)

"""Finds the pieces of an order that are to be sent: its statuses follow from them. Pre-orders wait for their date."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from storefront.kit.format import format_day
from storefront.kit.refusals import Refusal
from storefront.orders.download_links import is_paid
from storefront.orders.models import Order, OrderLine
from storefront.shops.models import Shop

FulfilmentStatus = Order.FulfilmentStatus
L = TypeVar("L")


def waiting(lines: Sequence[OrderLine]) -> list[OrderLine]:
    """The lines with pieces that somebody still has to send. Leaves out files and gift cards, unless the order has
    nothing else."""
    sent = [line for line in lines if line.needs_sending] or lines
    return [line for line in sent if line.left]


def fulfilment_status(order: Order, lines: Sequence[OrderLine]) -> FulfilmentStatus:
    """The fulfilment status of an order with these lines. An order of only files and gift cards is fulfilled by its
    payment. An order whose pieces were all refunded before anything was sent is not fulfilled: it can only be
    cancelled."""
    is_begun = any(line.fulfilled_qty for line in lines)
    needs_sending = any(line.needs_sending for line in lines)
    if waiting(lines) and (needs_sending or not is_paid(order)):
        return FulfilmentStatus.PARTIALLY_FULFILLED if is_begun else FulfilmentStatus.UNFULFILLED
    is_delivered = is_begun or any(not line.needs_sending for line in lines)
    return FulfilmentStatus.FULFILLED if is_delivered else FulfilmentStatus.UNFULFILLED


def follow_lines(order: Order, lines: Sequence[OrderLine]) -> bool:
    """Update the statuses of a locked order, which is not cancelled, from its lines; the caller saves them. Returns
    True if they changed."""
    before = order.status, order.fulfilment_status
    order.fulfilment_status = fulfilment_status(order, lines)
    is_done = order.fulfilment_status == FulfilmentStatus.FULFILLED
    order.status = Order.Status.FULFILLED if is_done else Order.Status.OPEN
    return (order.status, order.fulfilment_status) != before


class NotSentYet(Refusal):
    """Only pre-orders are left whose date is still to come. They can be sent by naming them."""

    code, field = "preorder_not_due", "lines"


def is_due(line: Any, now: datetime) -> bool:
    """Returns True if a line of a cart or an order can be sent: it is no pre-order, or its date has come."""
    return line.available_from is None or line.available_from <= now


def due_lines(lines: Iterable[L], shop: Shop, now: datetime) -> list[L]:
    """The lines that can be sent, among these with pieces left. Raises NotSentYet if there are lines, and none can be
    sent."""
    lines = list(lines)
    found = [line for line in lines if is_due(line, now)]
    if lines and not found:
        dates = sorted(line.available_from for line in lines)  # type: ignore[attr-defined]
        raise NotSentYet(
            f"All that is left are pre-orders, sent from {format_day(dates[0], shop.timezone)} on. To send them before,"
            " name their lines and quantities."
        )
    return found


def to_send_now(orders: QuerySet[Order], now: datetime) -> QuerySet[Order]:
    """The orders among these with pieces left that can be sent."""
    return orders.filter(Exists(_left().filter(Q(available_from=None) | Q(available_from__lte=now))))


def to_send_later(orders: QuerySet[Order], now: datetime) -> QuerySet[Order]:
    """The orders among these whose remaining pieces are all pre-orders."""
    now_rows = to_send_now(orders, now).values("pk")
    return orders.filter(Exists(_left().filter(available_from__gt=now))).exclude(pk__in=now_rows)


def to_print(orders: QuerySet[Order], now: datetime) -> QuerySet[Order]:
    """The open orders among these that can be sent, and whose papers nobody has printed."""
    return to_send_now(orders.filter(status=Order.Status.OPEN, printed_at=None), now)


def _left() -> QuerySet[OrderLine]:
    """The lines with pieces left to send, of the outer query's order."""
    return OrderLine.objects.filter(
        order=OuterRef("pk"),
        is_digital=False,
        gift_card__isnull=True,
        qty__gt=F("fulfilled_qty") + F("withdrawn_qty") + F("closed_qty"),
    )


def explain(lines: Sequence[Any], shop: Shop, now: datetime) -> str:
    """The sentence to the shopper about pre-orders among these lines of a cart; empty without any."""
    later = [line for line in lines if not is_due(line, now)]
    if not later:
        return ""
    days = {format_day(line.available_from, shop.timezone) for line in later}
    is_all, is_one, has_one_day = len(later) == len(lines), len(later) == 1, len(days) == 1
    return _explanation(is_all=is_all, is_one=is_one, has_one_day=has_one_day) % {"day": days.pop()}


def _explanation(*, is_all: bool, is_one: bool, has_one_day: bool) -> str:
    """The sentences about pre-orders that are all lines or only some, one or several, sent on one day or on several."""
    if is_all and is_one:
        return _("This is a pre-order. It is sent from %(day)s on.")
    if is_all and has_one_day:
        return _("This is a pre-order. Each item is sent from %(day)s on.")
    if is_all:
        return _("This is a pre-order. Each item is sent from its own date on.")
    if is_one:
        return _("The pre-order is sent from %(day)s on. Everything else is sent earlier, without waiting for it.")
    if has_one_day:
        return _("Each pre-order is sent from %(day)s on. Everything else is sent earlier, without waiting for it.")
    return _("Each pre-order is sent from its own date on. Everything else is sent earlier, without waiting for it.")

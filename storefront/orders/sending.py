"""Derives the fulfilment status of an order from its lines."""

from collections.abc import Sequence

from storefront.orders.download_links import is_paid
from storefront.orders.models import Order, OrderLine

FulfilmentStatus = Order.FulfilmentStatus


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

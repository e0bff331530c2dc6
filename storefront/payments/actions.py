"""What the shop does with payments of an order: mark it as paid, cancel it."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit.refusals import Refusal
from storefront.orders import actions as orders
from storefront.orders.models import Order
from storefront.payments.models import Payment
from storefront.payments.providers.base import Report, Standing
from storefront.payments.refunds import return_gift_cards
from storefront.payments.rules import State
from storefront.payments.settling import settle
from storefront.shops.models import Shop


class OrderNotPayable(Refusal):
    code = "order_not_payable"
    message = _lazy("This order has no pending payment.")


@transaction.atomic
def mark_paid(*, shop: Shop, order: Order, now: datetime) -> Order:
    """Record that the shop has received the payment.

    Raises OrderNotPayable if the order is paid or cancelled, or while a provider holds the money: then its capture
    marks the order as paid.
    """
    order = orders.lock_order(shop, order)
    is_unpaid = order.status != Order.Status.CANCELLED and order.payment_status == Order.PaymentStatus.PENDING
    if not is_unpaid or order.payments.filter(status=Payment.Status.AUTHORISED).exists():
        raise OrderNotPayable
    before = {"payment_status": order.payment_status}
    for payment in order.payments.filter(state=State.PROMISED):
        received = Report(Standing.PAID, captured=payment.amount)
        settle(shop=shop, payment=payment, report=received, source="staff", now=now)
    order.refresh_from_db()
    if order.payment_status == Order.PaymentStatus.PENDING:
        orders.set_paid(order, now)
    after, action = {"payment_status": order.payment_status}, "order.marked_paid"
    audit.record(shop=shop, action=action, object=order, before=before, after=after, now=now)
    return order


@transaction.atomic
def cancel_order(*, shop: Shop, order: Order, now: datetime, **given: Any) -> Order:
    """Cancel an open order, as `orders.actions.cancel_order`. Promised payments end.

    The worker releases what a provider holds, since no transaction may wait on a network. Paid money is not refunded;
    what gift cards paid of an order that is not paid in full goes back to them.
    """
    order = orders.lock_order(shop, order)
    orders.check_cancellable(order)
    if order.payment_status == Order.PaymentStatus.PENDING:
        return_gift_cards(shop=shop, order=order, now=now)
    for payment in order.payments.filter(state=State.PROMISED):
        settle(shop=shop, payment=payment, report=Report(Standing.CANCELLED), source="staff", now=now)
    Payment.objects.filter(shop=shop, order=order, state=State.AUTHORISED).update(due_at=now)
    return orders.cancel_order(shop=shop, order=order, now=now, **given)

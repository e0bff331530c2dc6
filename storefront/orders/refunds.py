"""Refunds: requested here, carried out by a gateway outside any transaction, then recorded here.

A request reserves the amount on its payment, so that concurrent refunds never exceed what was paid. The worker has the
gateway carry it out (`checkout.jobs.pay_back_refunds`).
"""

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction

from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.orders.actions import lock_order, restock_order
from storefront.orders.models import Order, Payment, Refund
from storefront.orders.queries import order_record, refund_record
from storefront.shops import audit
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

# After this time a refund without a result is sent to the gateway again: the worker that sent it is done or dead.
AGAIN = timedelta(minutes=1)


class NothingPaid(Refusal):
    code = "order_not_paid"
    message = "Only paid amounts can be refunded."


class RefundTooLarge(Refusal):
    code, field = "refund_too_large", "amount"


class OrderStillOpen(Refusal):
    code, field = "order_still_open", "restock"
    message = "An open order cannot be restocked with a refund. Cancel the order to restock its items."


@transaction.atomic
def request_refund(
    *, shop: Shop, order: Order, amount: Decimal | None = None, reason: str = "", restock: bool = False, now: datetime
) -> Refund:
    """Request a refund of this amount, by default of all that is left. The worker carries it out within seconds.

    `restock` returns the order's items to stock, if they were not returned before. Raises NothingPaid, RefundTooLarge,
    OrderStillOpen and InvalidFields.
    """
    order = lock_order(shop, order)
    # An order has at most one payment.
    payment = Payment.objects.filter(shop=shop, order=order, status=Payment.Status.PAID).first()
    if payment is None:
        raise NothingPaid
    if restock and order.status == Order.Status.OPEN:
        raise OrderStillOpen
    before = {"refunded": payment.refunded}
    amount = _reserve(payment, amount, now)
    restocked = restock and restock_order(order, now)
    order.updated_at = now
    order.save(update_fields=["restocked_at", "updated_at"])
    refund = Refund.objects.create(
        shop=shop,
        order=order,
        payment=payment,
        amount=amount,
        currency=payment.currency,
        reason=reason,
        restocked=restocked,
        due_at=now,
        created_at=now,
        updated_at=now,
    )
    after = {"amount": amount, "currency": refund.currency, "reason": reason, "restocked": restocked}
    audit.record(shop=shop, action="order.refunded", object=order, before=before, after=after, now=now)
    return refund


def claim_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Whether the caller has claimed the refund and must send it to the gateway now. Without a recorded result, the
    refund is due again after `AGAIN`, with the same key."""
    pending = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING, due_at=refund.due_at)
    return pending.update(due_at=now + AGAIN) == 1


@transaction.atomic
def record_refunded(*, shop: Shop, refund: Refund, reference: str, now: datetime) -> bool:
    """Record that the gateway refunded the money. False if a result was recorded before."""
    order = lock_order(shop, refund.order)
    if not _finish(shop, refund, now, status=Refund.Status.DONE, reference=reference):
        return False
    order.refunded += refund.amount
    is_all = order.refunded >= refund.payment.amount
    order.payment_status = Order.PaymentStatus.REFUNDED if is_all else Order.PaymentStatus.PARTIALLY_REFUNDED
    order.updated_at = now
    order.save(update_fields=["refunded", "payment_status", "updated_at"])
    record_event(shop=shop, topic="order.refunded", data=order_record(order), now=now)
    return True


@transaction.atomic
def record_refund_failed(*, shop: Shop, refund: Refund, why: str, now: datetime) -> bool:
    """Record that the gateway declined the refund, and release the reserved amount. False if a result was recorded
    before."""
    lock_order(shop, refund.order)
    if not _finish(shop, refund, now, status=Refund.Status.FAILED, failure=why[:255]):
        return False
    payment = Payment.objects.get(shop=shop, pk=refund.payment_id)
    payment.refunded -= refund.amount
    payment.save(update_fields=["refunded"])
    refund.refresh_from_db()
    record_event(shop=shop, topic="refund.failed", data=refund_record(refund), now=now)
    return True


def _reserve(payment: Payment, amount: Decimal | None, now: datetime) -> Decimal:
    """Reserve this amount of the payment, by default all that is left. Returns the amount."""
    left = payment.amount - payment.refunded
    if amount is None:
        amount = left
    elif amount <= ZERO:
        raise InvalidFields(errors={"amount": ["amount must be more than 0.00."]})
    # Add in Python, with the old value as condition: SQLite would add floats, and be off by a fraction of a cent.
    unchanged = Payment.objects.filter(shop=payment.shop_id, pk=payment.pk, refunded=payment.refunded)
    if not left or amount > left or not unchanged.update(refunded=payment.refunded + amount, updated_at=now):
        raise RefundTooLarge(_too_large(payment, left))
    return amount


def _too_large(payment: Payment, left: Decimal) -> str:
    if not left:
        return "The full amount has been refunded or is being refunded."
    return f"At most {format_money(left, payment.currency)} can still be refunded."


def _finish(shop: Shop, refund: Refund, now: datetime, **columns: str) -> bool:
    pending = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING)
    return pending.update(updated_at=now, **columns) == 1

"""Giving money back: promised here, given by a gateway that no transaction waits for, then written down here.

A refund is reserved on its payment from the moment it is asked for, so that refunds asked for at once never come to
more than was paid. The worker has the gateway carry it out (`checkout.jobs.pay_back_refunds`).
"""

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction

from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.orders.actions import lock_order, put_back_goods
from storefront.orders.models import Order, Payment, Refund
from storefront.orders.queries import order_record
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

# A gateway that did not answer is asked again after this; by then whoever asked it is done or dead.
AGAIN = timedelta(minutes=1)


class NothingPaid(Refusal):
    code = "order_not_paid"
    message = "Only money that has been paid can be refunded."


class RefundTooLarge(Refusal):
    code, field = "refund_too_large", "amount"


class NotHandedOver(Refusal):
    code, field = "order_still_open", "restock"
    message = "The goods of an open order cannot come back: cancel the order to put them back to stock."


@transaction.atomic
def request_refund(
    *, shop: Shop, order: Order, amount: Decimal | None = None, reason: str = "", restock: bool = False, now: datetime
) -> Refund:
    """Owe the shopper this much of what they paid, or all that is left of it; the worker sees to it within seconds.

    `restock` puts the order's goods back, if they are not back already. Raises NothingPaid, RefundTooLarge,
    NotHandedOver and InvalidFields.
    """
    order = lock_order(shop, order)
    # An order is paid by one payment: it is placed with one promise at most.
    payment = Payment.objects.filter(shop=shop, order=order, status=Payment.Status.PAID).first()
    if payment is None:
        raise NothingPaid
    if restock and order.status == Order.Status.OPEN:
        raise NotHandedOver
    amount = _reserve(payment, amount, now)
    restocked = restock and put_back_goods(order, now)
    order.updated_at = now
    order.save(update_fields=["restocked_at", "updated_at"])
    return Refund.objects.create(
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


def claim_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Whether the caller is the one to ask the gateway now. Should it never tell how that went, the refund is due again
    after `AGAIN`, and asked for under the same key."""
    waiting = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING, due_at=refund.due_at)
    return waiting.update(due_at=now + AGAIN) == 1


@transaction.atomic
def record_refunded(*, shop: Shop, refund: Refund, reference: str, now: datetime) -> bool:
    """Write down that the gateway gave the money back; False when its end was written down before."""
    order = lock_order(shop, refund.order)
    if not _end(shop, refund, now, status=Refund.Status.DONE, reference=reference):
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
    """Write down that the gateway will not give the money back, which can then be refunded anew; False when its end
    was written down before."""
    lock_order(shop, refund.order)
    if not _end(shop, refund, now, status=Refund.Status.FAILED, failure=why[:255]):
        return False
    payment = Payment.objects.get(shop=shop, pk=refund.payment_id)
    payment.refunded -= refund.amount
    payment.save(update_fields=["refunded"])
    return True


def _reserve(payment: Payment, amount: Decimal | None, now: datetime) -> Decimal:
    """Set this much of the payment aside, or all that is left."""
    left = payment.amount - payment.refunded
    if amount is None:
        amount = left
    elif amount <= ZERO:
        raise InvalidFields(errors={"amount": ["amount must be more than 0.00."]})
    # By the sum that was read, in Python's decimals: SQLite would add them as floats, and be a fraction of a cent off.
    unchanged = Payment.objects.filter(shop=payment.shop_id, pk=payment.pk, refunded=payment.refunded)
    if not left or amount > left or not unchanged.update(refunded=payment.refunded + amount, updated_at=now):
        raise RefundTooLarge(_too_large(payment, left))
    return amount


def _too_large(payment: Payment, left: Decimal) -> str:
    if not left:
        return "All that was paid has been refunded, or is about to be."
    return f"At most {format_money(left, payment.currency)} can still be refunded."


def _end(shop: Shop, refund: Refund, now: datetime, **columns: str) -> bool:
    pending = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING)
    return pending.update(updated_at=now, **columns) == 1

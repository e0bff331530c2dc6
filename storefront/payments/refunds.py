"""Refunds: requested here, carried out by a provider outside any transaction, then recorded here.

A request reserves the amount on its payment, so that concurrent refunds never exceed what was paid. The worker has the
provider carry it out (`jobs.pay_back_refunds`).
"""

from datetime import datetime, timedelta
from decimal import Decimal

import structlog
from django.db import transaction

from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.orders.actions import lock_order, restock_order
from storefront.orders.models import Order
from storefront.orders.queries import refund_record
from storefront.payments.accounts import charge_of
from storefront.payments.models import Payment, Refund
from storefront.payments.providers.base import RefundDeclined, Report, Standing
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import YOUNG
from storefront.payments.settling import apply_report, lock_payment
from storefront.shops import audit
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

# After this time a refund without a result is sent to the provider again: the worker that sent it is done or dead.
AGAIN = timedelta(minutes=1)

log = structlog.get_logger(__name__)


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

    It is taken from the newest payment that has enough left, or else from several, newest first, with a refund each;
    the first is returned. `restock` returns the order's items to stock, if they were not returned before. Raises
    NothingPaid, RefundTooLarge, OrderStillOpen and InvalidFields.
    """
    order = lock_order(shop, order)
    paid = Payment.objects.select_for_update(no_key=True).filter(shop=shop, order=order, status=Payment.Status.PAID)
    payments = list(paid.order_by("-pk"))
    if not payments:
        raise NothingPaid
    if restock and order.status == Order.Status.OPEN:
        raise OrderStillOpen
    before = {"refunded": sum((payment.refunded for payment in payments), ZERO)}
    shares = _shares(payments, amount)
    restocked = restock and restock_order(order, now)
    order.updated_at = now
    order.save(update_fields=["restocked_at", "updated_at"])
    refunds = [_reserve(payment, share, reason, restocked, now) for payment, share in shares]
    total = sum((refund.amount for refund in refunds), ZERO)
    after = {"amount": total, "currency": order.currency, "reason": reason, "restocked": restocked}
    audit.record(shop=shop, action="order.refunded", object=order, before=before, after=after, now=now)
    return refunds[0]


def carry_out_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Have the provider carry out a pending refund, and record the result.

    False if that failed or another worker has claimed the refund: then it stays pending, and the worker tries again.
    """
    if not claim_refund(shop=shop, refund=refund, now=now):
        return False
    payment = refund.payment
    provider = PROVIDERS.get(payment.gateway)
    if provider is None:
        why = "This payment method is no longer available. The shop must refund the payment itself."
        return record_refund_failed(shop=shop, refund=refund, why=why, now=now)
    try:
        reference = provider.refund(charge_of(shop, payment), key=refund.key, amount=refund.amount)
    except RefundDeclined as declined:
        return record_refund_failed(shop=shop, refund=refund, why=declined.text, now=now)
    except Exception as error:
        # It is unknown whether the money was refunded, so the retry must use the same key.
        log.warning("refund_not_settled", refund=refund.pk, provider=provider.name, error=type(error).__name__)
        return False
    return record_refunded(shop=shop, refund=refund, reference=reference, now=now)


def claim_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Whether the caller has claimed the refund and must send it to the provider now. Without a recorded result, the
    refund is due again after `AGAIN`, with the same key."""
    pending = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING, due_at=refund.due_at)
    return pending.update(due_at=now + AGAIN) == 1


@transaction.atomic
def record_refunded(*, shop: Shop, refund: Refund, reference: str, now: datetime) -> bool:
    """Record that the provider refunded the money. False if a result was recorded before.

    The payment's sum is what our refunds come to, or more where a report has told of others already. The provider is
    asked for the whole sum soon.
    """
    payment = lock_payment(shop, refund.payment)
    if not _finish(shop, refund, now, status=Refund.Status.DONE, reference=reference):
        return False
    done = Refund.objects.filter(shop=shop, payment=payment, status=Refund.Status.DONE)
    returned = sum(done.values_list("amount", flat=True), ZERO)
    report = Report(Standing.PAID, refunded=returned)
    apply_report(shop=shop, payment=payment, report=report, source="call", is_fresh=False, now=now)
    Payment.objects.filter(shop=shop, pk=payment.pk).update(due_at=now + YOUNG)
    return True


@transaction.atomic
def record_refund_failed(*, shop: Shop, refund: Refund, why: str, now: datetime) -> bool:
    """Record that the provider declined the refund, and release the reserved amount. False if a result was recorded
    before."""
    payment = lock_payment(shop, refund.payment)
    if not _finish(shop, refund, now, status=Refund.Status.FAILED, failure=why[:255]):
        return False
    payment.refunded = max(payment.refunded - refund.amount, payment.returned)
    payment.save(update_fields=["refunded"])
    refund.refresh_from_db()
    if refund.order_id is None:
        # No order stands for it, so no app hears of it: the merchant sees it with the payment.
        log.error("late_money_not_returned", payment=payment.pk, refund=refund.pk, reason=why)
    else:
        record_event(shop=shop, topic="refund.failed", data=refund_record(refund), now=now)
    return True


def refundable(payment: Payment) -> Decimal:
    """What can still be refunded of the payment."""
    return max(payment.captured - payment.refunded - payment.disputed, ZERO)


def _shares(payments: list[Payment], amount: Decimal | None) -> list[tuple[Payment, Decimal]]:
    """How much of which payment makes up the amount, by default all that is left."""
    left = sum((refundable(payment) for payment in payments), ZERO)
    if amount is not None and amount <= ZERO:
        raise InvalidFields(errors={"amount": ["amount must be more than 0.00."]})
    if not left or (amount is not None and amount > left):
        raise RefundTooLarge(_too_large(payments[0].currency, left))
    wanted = left if amount is None else amount
    enough = next((payment for payment in payments if refundable(payment) >= wanted), None)
    if enough:
        return [(enough, wanted)]
    shares = []
    for payment in payments:
        share = min(refundable(payment), wanted)
        wanted -= share
        shares += [(payment, share)] if share else []
    return shares


def _reserve(payment: Payment, amount: Decimal, reason: str, restocked: bool, now: datetime) -> Refund:
    """Reserve this amount of the locked payment."""
    payment.refunded += amount
    payment.updated_at = now
    payment.save(update_fields=["refunded", "updated_at"])
    return Refund.objects.create(
        shop_id=payment.shop_id,
        order=payment.order,
        payment=payment,
        amount=amount,
        currency=payment.currency,
        reason=reason,
        restocked=restocked,
        due_at=now,
        created_at=now,
        updated_at=now,
    )


def _too_large(currency: str, left: Decimal) -> str:
    if not left:
        return "The full amount has been refunded or is being refunded."
    return f"At most {format_money(left, currency)} can still be refunded."


def _finish(shop: Shop, refund: Refund, now: datetime, **columns: str) -> bool:
    pending = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING)
    return pending.update(**columns, updated_at=now) == 1

"""Refunds: requested here, carried out by a provider outside any transaction, then recorded here.

A request reserves the amount on its payment, so that concurrent refunds never exceed what was paid. The worker has the
provider carry it out (`jobs.pay_back_refunds`).
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit.format import format_money
from storefront.kit.money import ZERO, problem_of
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.orders.actions import lock_order, restock_order
from storefront.orders.models import Order
from storefront.payments.accounts import charge_of
from storefront.payments.line_refunds import Pieces, Plan, carry_out_plan, plan_refund
from storefront.payments.models import Payment, Refund
from storefront.payments.providers.base import RefundDeclined, RefundReport, RefundStanding, Report, Standing
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.refund_ledger import reserve
from storefront.payments.rules import MAX_REFERENCE_LENGTH, YOUNG, clean
from storefront.payments.settling import apply_report, lock_payment
from storefront.shops.models import Shop

# After this time a refund without a result is sent to the provider again: the worker that sent it is done or dead.
AGAIN = timedelta(minutes=1)

log = structlog.get_logger(__name__)


class NothingPaid(Refusal):
    code = "order_not_paid"
    message = _lazy("Only paid amounts can be refunded.")


class RefundTooLarge(Refusal):
    code, field = "refund_too_large", "amount"


class OrderStillOpen(Refusal):
    code, field = "order_still_open", "restock"
    message = _lazy("An open order cannot be restocked with a refund. Cancel the order to restock its items.")


@transaction.atomic
def request_refund(
    *,
    shop: Shop,
    order: Order,
    amount: Decimal | None = None,
    lines: Collection[Pieces] = (),
    shipping: Decimal | None = None,
    reason: str = "",
    restock: bool = False,
    now: datetime,
) -> Refund:
    """Request a refund of this amount, by default of all that is left. The worker carries it out within seconds.

    With `lines` or `shipping`, the amount is what these come to (`line_refunds`), or less with `amount`. Each of the
    lines decides whether its pieces are restocked; without `lines`, `restock` returns all of the order's items to stock
    that were not returned before.

    It is taken from the newest payment that has enough left, or else from several, newest first, with a refund each;
    the first is returned, which has the lines. Raises NothingPaid, RefundTooLarge, OrderStillOpen, NotLeftToRefund,
    ShippingRefundTooLarge, GiftCardSpent and InvalidFields.
    """
    order = lock_order(shop, order)
    payments = list(paid_payments(order).select_for_update(no_key=True).order_by("-pk"))
    if not payments:
        raise NothingPaid
    if restock and not lines and order.status == Order.Status.OPEN:
        raise OrderStillOpen
    _check_units(order, amount=amount, shipping=shipping)
    before = {"refunded": sum((payment.refunded for payment in payments), ZERO)}
    plan = plan_refund(order, lines, shipping or ZERO) if lines or shipping is not None else None
    shares = _shares(payments, _planned(plan, amount, order) if plan else amount)
    if lines:
        restocked = any(part.restocked_qty for part in plan.lines) if plan else False
    else:
        restocked = restock and restock_order(order, reason, now)
    order.updated_at = now
    order.save(update_fields=["restocked_at", "updated_at"])
    refunds = [reserve(payment, share, reason, now, restocked=restocked) for payment, share in shares]
    first, *parts = refunds
    Refund.objects.filter(shop=shop, pk__in=[part.pk for part in parts]).update(part_of=first)
    if plan:
        first.shipping = plan.shipping
        first.save(update_fields=["shipping"])
        carry_out_plan(shop=shop, order=order, plan=plan, refund=first, now=now)
    after = _audited(refunds, order, plan)
    audit.record(shop=shop, action="order.refunded", object=order, before=before, after=after, now=now)
    return first


def refund_total(
    *,
    order: Order,
    amount: Decimal | None = None,
    lines: Collection[Pieces] = (),
    shipping: Decimal | None = None,
) -> Decimal:
    """What such a refund comes to at this moment. Raises what `request_refund` raises."""
    payments = list(paid_payments(order).order_by("-pk"))
    if not payments:
        raise NothingPaid
    _check_units(order, amount=amount, shipping=shipping)
    plan = plan_refund(order, lines, shipping or ZERO) if lines or shipping is not None else None
    return sum((share for _unused, share in _shares(payments, _planned(plan, amount, order) if plan else amount)), ZERO)


def paid_payments(order: Order) -> QuerySet[Payment]:
    """The payments of the order that can be refunded. What gift cards paid of an order that is not paid yet stays with
    it, until it is cancelled (`return_gift_cards`)."""
    paid = Payment.objects.filter(shop=order.shop_id, order=order, status=Payment.Status.PAID)
    is_awaited = order.payment_status == Order.PaymentStatus.PENDING and order.status != Order.Status.CANCELLED
    return paid.exclude(gateway=GIFT_CARD) if is_awaited else paid


def return_gift_cards(*, shop: Shop, order: Order, now: datetime) -> None:
    """Give what gift cards paid back to them. Call it in the transaction that cancels a locked, unpaid order."""
    cards = Payment.objects.filter(shop=shop, order=order, gateway=GIFT_CARD, status=Payment.Status.PAID)
    for payment in cards.select_for_update(of=("self",), no_key=True).order_by("pk"):
        if left := refundable(payment):
            reserve(payment, left, "The order was cancelled before it was paid.", now)


def carry_out_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Have the provider carry out a pending refund, and record its answer.

    False if there was no answer or another worker has claimed the refund: then it stays pending, and the worker tries
    again.
    """
    if not claim_refund(shop=shop, refund=refund, now=now):
        return False
    payment = refund.payment
    provider = PROVIDERS.get(payment.gateway)
    reported = RefundReport(refund.amount, key=refund.key, standing=RefundStanding.FAILED)
    try:
        if provider is None:
            raise RefundDeclined("This payment method is no longer available. The shop must refund the payment itself.")
        reported = provider.refund(charge_of(shop, payment), key=refund.key, amount=refund.amount)
    except RefundDeclined as declined:
        reported = replace(reported, why=declined.text)
    except Exception as error:
        # The money may have been refunded, so the retry must use the same key.
        log.warning("refund_not_settled", refund=refund.pk, provider=payment.gateway, error=type(error).__name__)
        return False
    return record_refund(shop=shop, refund=refund, reported=reported, now=now)


def claim_refund(*, shop: Shop, refund: Refund, now: datetime) -> bool:
    """Whether the caller has claimed the refund and must send it to the provider now. Without a recorded result, the
    refund is due again after `AGAIN`, with the same key."""
    unnamed = Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING, reference="")
    return unnamed.filter(due_at=refund.due_at).update(due_at=now + AGAIN) == 1


@transaction.atomic
def record_refund(*, shop: Shop, refund: Refund, reported: RefundReport, now: datetime) -> bool:
    """Record the provider's answer to the refund. Returns False if it was recorded before.

    The provider is asked for all refunds of the payment soon.
    """
    payment = lock_payment(shop, refund.payment)
    if not Refund.objects.filter(shop=shop, pk=refund.pk, status=Refund.Status.PENDING, reference="").exists():
        return False
    reported = clean(replace(reported, amount=refund.amount, key=refund.key), reference=MAX_REFERENCE_LENGTH)
    report = Report(Standing.PAID, refunds=(reported,))
    apply_report(shop=shop, payment=payment, report=report, source="call", is_fresh=False, now=now)
    Payment.objects.filter(shop=shop, pk=payment.pk).update(due_at=now + YOUNG)
    return True


def refundable(payment: Payment) -> Decimal:
    """What can still be refunded of the payment."""
    return max(payment.captured - payment.refunded - payment.disputed, ZERO)


def _check_units(order: Order, **amounts: Decimal | None) -> None:
    """Raises InvalidFields for fractions that the order's currency lacks."""
    for name, amount in amounts.items():
        if problem := problem_of(amount or ZERO, order.currency):
            raise InvalidFields(errors={name: [f"{name} {problem}."]})


def _planned(plan: Plan, amount: Decimal | None, order: Order) -> Decimal:
    """How much of the plan's amount to refund. Raises RefundTooLarge."""
    if not plan.amount:
        raise InvalidFields(errors={"lines": [_("Nothing was paid for these items.")]})
    if amount is not None and amount > plan.amount:
        raise RefundTooLarge(
            _("The chosen items and delivery come to %(amount)s.")
            % {"amount": format_money(plan.amount, order.currency)}
        )
    return plan.amount if amount is None else amount


def _audited(refunds: list[Refund], order: Order, plan: Plan | None) -> dict[str, object]:
    first, total = refunds[0], sum((refund.amount for refund in refunds), ZERO)
    after = {"amount": total, "currency": order.currency, "reason": first.reason, "restocked": first.restocked}
    if plan is None:
        return after
    return after | {"pieces": {part.line_id: part.qty for part in plan.lines}, "shipping": plan.shipping}


def _shares(payments: list[Payment], amount: Decimal | None) -> list[tuple[Payment, Decimal]]:
    """How much of which payment makes up the amount, by default all that is left."""
    left = sum((refundable(payment) for payment in payments), ZERO)
    if amount is not None and amount <= ZERO:
        raise InvalidFields(errors={"amount": [_("amount must be more than 0.00.")]})
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


def _too_large(currency: str, left: Decimal) -> str:
    if not left:
        return _("The full amount has been refunded or is being refunded.")
    return _("At most %(left)s can still be refunded.") % {"left": format_money(left, currency)}

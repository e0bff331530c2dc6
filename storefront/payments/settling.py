"""The one place where payments change: what was found out about a payment is applied, logged, and followed up.

Rows are locked in one order, so that transactions cannot deadlock: checkout, cart, draft, order, payments; then stock,
and the shop's order counter last. Those of payments, orders and drafts are locked without their keys: at the commit,
PostgreSQL may look at the keys of rows that are referred to, out of that order.
"""

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from storefront.carts.models import Cart
from storefront.catalogue.stock import InsufficientStock
from storefront.kit.money import ZERO
from storefront.orders import actions as orders
from storefront.orders.models import Order
from storefront.payments import drafts
from storefront.payments.models import OrderDraft, Payment, PaymentEntry, Refund
from storefront.payments.providers.base import Report, Standing
from storefront.payments.rules import (
    MAY_STILL_ARRIVE,
    SECURED,
    STATUSES,
    State,
    any_undecided,
    next_state,
    wait_before_look,
)
from storefront.pricing.redeeming import DiscountUsedUp
from storefront.shops.models import Shop

TOO_LATE = "The payment came after the order could no longer be placed."
_SUMS = {
    "captured": (PaymentEntry.Kind.CAPTURED, 1),
    "returned": (PaymentEntry.Kind.RETURNED, -1),
    "disputed": (PaymentEntry.Kind.DISPUTED, -1),
}


@transaction.atomic
def settle(
    *, shop: Shop, payment: Payment, report: Report, source: str, seen: int | None = None, now: datetime
) -> Payment:
    """Apply what the provider says of a payment: the one transition function. Returns the payment as it is then.

    `seen` is the payment's version when the provider was asked. If it has changed since, the report may be older than
    the change: sums that only grow count nevertheless, and the provider is asked again at once. Reports that say
    nothing new change nothing. When the payments of a draft cover its total, its order is placed; when they have ended
    without money, its stock goes back; money that comes too late for an order goes back.
    """
    locked = lock_payment(shop, payment)
    is_fresh = seen is None or seen == locked.version
    apply_report(shop=shop, payment=locked, report=report, source=source, is_fresh=is_fresh, now=now)
    if not is_fresh and State(report.standing) != locked.state:
        locked.due_at = now
        locked.save(update_fields=["due_at"])
    return locked


def lock_payment(shop: Shop, payment: Payment) -> Payment:
    """The current row of the payment, locked with its order, or with the draft that can become one."""
    row = Payment.objects.only("draft_id", "order_id").get(shop=shop, pk=payment.pk)
    if row.order_id is None and row.draft_id is not None:
        lock_draft(shop, row.draft_id)
        row.refresh_from_db(fields=["order_id"])
    if row.order_id is not None:
        Order.objects.select_for_update(no_key=True).filter(shop=shop, pk=row.order_id).first()
    locked = Payment.objects.select_for_update(of=("self",), no_key=True)
    return locked.select_related("draft", "order").get(shop=shop, pk=row.pk)


def lock_draft(shop: Shop, draft_id: int) -> OrderDraft:
    """The draft, locked after its checkout and its cart."""
    draft = OrderDraft.objects.get(shop=shop, pk=draft_id)
    list(draft.checkouts.select_for_update(of=("self",)).values_list("pk"))
    Cart.objects.select_for_update(of=("self",)).filter(shop=shop, drafts=draft).first()
    return OrderDraft.objects.select_for_update(of=("self",), no_key=True).get(shop=shop, pk=draft_id)


def apply_report(*, shop: Shop, payment: Payment, report: Report, source: str, is_fresh: bool, now: datetime) -> None:
    """Apply, log and follow up a report about a locked payment."""
    if _move(payment, report, source, is_fresh, now):
        payment.looks, payment.updated_at = 0, now
        payment.version += 1
        payment.save()
    if payment.order is not None:
        _update_order(shop, payment.order, now)
    elif payment.draft is not None:
        _follow_draft(shop, payment, payment.draft, now)
    else:
        # Its draft ended long ago and was deleted.
        _give_back(payment, now)
    payment.due_at = _next_due(payment, now)
    payment.save(update_fields=["due_at"])


def end_if_over(*, shop: Shop, draft: OrderDraft, now: datetime) -> None:
    """End an expired draft whose payments have all ended, or have taken only part of its total."""
    with transaction.atomic():
        locked = lock_draft(shop, draft.pk)
        payments = list(locked.payments.select_for_update(of=("self",), no_key=True))
        is_open = locked.state == OrderDraft.State.OPEN and locked.expires_at <= now
        if is_open and not any_undecided(State(each.state) for each in payments):
            drafts.end_draft(shop=shop, draft=locked, now=now)
            for each in payments:
                _give_back(each, now)


def _move(payment: Payment, report: Report, source: str, is_fresh: bool, now: datetime) -> bool:
    """Write the report into the payment and the log. Whether it said anything new."""
    was, becomes = payment.state, next_state(State(payment.state), report, is_fresh=is_fresh)
    before = _facts(payment)
    sums = {
        "captured": max(payment.captured, report.captured),
        "returned": max(payment.returned, report.refunded),
        "disputed": report.disputed if is_fresh else payment.disputed,
    }
    entries = [
        (kind, sign * (sums[name] - getattr(payment, name)))
        for name, (kind, sign) in _SUMS.items()
        if sums[name] != getattr(payment, name)
    ]
    if was != becomes and not entries:
        entries = [(PaymentEntry.Kind.STATE, ZERO)]
    for name, amount in sums.items():
        setattr(payment, name, amount)
    payment.refunded = min(max(payment.refunded, payment.returned), payment.amount)
    payment.state, payment.status = becomes, STATUSES[becomes]
    payment.reference = payment.reference or report.reference
    if is_fresh:
        payment.failure, payment.dispute = report.failure[:255], report.dispute[:100]
        payment.method = report.method[:100] or payment.method
    if payment.status != Payment.Status.PENDING:
        payment.place = ""
    _log(payment, entries, was, source, now)
    return before != _facts(payment)


def _facts(payment: Payment) -> tuple:
    sums = (payment.captured, payment.returned, payment.disputed, payment.refunded)
    return (payment.state, payment.reference, *sums, payment.failure, payment.dispute, payment.method)


def _log(payment: Payment, entries: list, was: str, source: str, now: datetime) -> None:
    PaymentEntry.objects.bulk_create(
        PaymentEntry(
            shop_id=payment.shop_id,
            payment=payment,
            at=now,
            kind=kind,
            amount=amount,
            from_state=was,
            to_state=payment.state,
            source=source,
            detail=payment.failure or payment.dispute,
        )
        for kind, amount in entries
    )


def _follow_draft(shop: Shop, payment: Payment, draft: OrderDraft, now: datetime) -> None:
    """What the payment means to the draft that it was started for."""
    others = draft.payments.exclude(pk=payment.pk).select_for_update(of=("self",), no_key=True)
    payments = [payment, *others]
    secured = [each for each in payments if each.state in SECURED and each.order_id is None]
    if draft.state == OrderDraft.State.PLACED or draft.is_replaced:
        _give_back(payment, now)
    elif sum((_secured_amount(each) for each in secured), ZERO) >= draft.total and _has_stock(shop, draft, now):
        order = drafts.place_draft(shop=shop, draft=draft, payments=secured, now=now)
        payment.order = order
        _update_order(shop, order, now)
    elif draft.state == OrderDraft.State.ENDED:
        for each in secured:
            _give_back(each, now)
    elif not secured and not any_undecided(State(each.state) for each in payments):
        drafts.end_draft(shop=shop, draft=draft, now=now)


def _secured_amount(payment: Payment) -> Decimal:
    return payment.captured if payment.state == State.PAID else payment.amount


def _has_stock(shop: Shop, draft: OrderDraft, now: datetime) -> bool:
    """Whether the draft holds its stock, or could take it again."""
    if draft.state == OrderDraft.State.OPEN:
        return True
    try:
        drafts.retake_stock(shop=shop, draft=draft, now=now)
    except (InsufficientStock, DiscountUsedUp):
        return False
    return True


def _give_back(payment: Payment, now: datetime) -> None:
    """Have money given back that cannot become an order. Held money is cancelled by the worker (`rules.next_call`)."""
    left = payment.captured - payment.refunded
    if payment.state == State.PAID and left > ZERO:
        # Reserved first, so that a second report gives nothing back twice.
        payment.refunded += left
        payment.save(update_fields=["refunded"])
        given = {"payment": payment, "amount": left, "currency": payment.currency, "reason": TOO_LATE}
        Refund.objects.create(shop_id=payment.shop_id, due_at=now, created_at=now, updated_at=now, **given)
    elif payment.state == State.PROMISED:
        _move(payment, Report(Standing.CANCELLED), "call", True, now)
        payment.save()
    elif payment.state == State.AUTHORISED:
        payment.due_at = now
        payment.save(update_fields=["due_at"])


def _update_order(shop: Shop, order: Order, now: datetime) -> None:
    """Bring the order's payment status and refunded sum up to its payments."""
    payments = list(Payment.objects.filter(shop=shop, order=order))
    captured = sum((each.captured for each in payments), ZERO)
    returned = min(sum((each.returned for each in payments), ZERO), order.total)
    if order.payment_status == Order.PaymentStatus.PENDING and captured >= order.total:
        orders.set_paid(order, now)
    if returned > order.refunded:
        orders.set_refunded(order, returned, is_all=returned >= min(captured, order.total), now=now)


def _next_due(payment: Payment, now: datetime) -> datetime | None:
    """When the worker asks about the payment next."""
    draft, state = payment.draft, payment.state
    if state in (State.PAID, State.PROMISED):
        return None
    if state == State.CANCELLED:
        is_unknown = not payment.reference and not payment.failure and now < payment.created_at + MAY_STILL_ARRIVE
        return now + wait_before_look(payment.looks) if is_unknown else None
    is_unwanted = payment.order is None and (draft is None or draft.state != OrderDraft.State.OPEN)
    return now if is_unwanted and not payment.looks else next_look(payment, now)


def next_look(payment: Payment, now: datetime) -> datetime:
    """After a growing wait, and where a draft expires before that, then."""
    after, draft = now + wait_before_look(payment.looks), payment.draft
    if payment.order_id is None and draft is not None and now < draft.expires_at < after:
        return draft.expires_at
    return after

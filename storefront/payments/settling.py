"""The one place where payments change: what was found out about a payment is applied, logged, and followed up.

Rows are locked in one order, so that transactions cannot deadlock: checkout, cart, draft, order, payments; then stock,
and the shop's order counter last. Those of payments, orders and drafts are locked without their keys: at the commit,
PostgreSQL may look at the keys of rows that are referred to, out of that order.
"""

from datetime import datetime
from typing import Any

import structlog
from django.db import transaction

from storefront.kit.money import ZERO
from storefront.orders import actions as orders
from storefront.orders.gift_cards import follow_payments
from storefront.orders.models import Order
from storefront.payments import alerts, refund_ledger
from storefront.payments.models import OrderDraft, Payment, PaymentEntry
from storefront.payments.payment_ledger import append_to_log, move
from storefront.payments.placing import follow_payment, lock_draft
from storefront.payments.providers.base import Report
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import (
    LOOKS_AT_PAID,
    MAY_STILL_ARRIVE,
    State,
    contradiction,
    next_look_at_paid,
    wait_before_look,
)
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)


@transaction.atomic
def settle(
    *, shop: Shop, payment: Payment, report: Report, source: str, seen: int | None = None, now: datetime
) -> Payment:
    """Apply the provider's report about a payment: the one transition function. Returns the payment as it is then.

    `seen` is the payment's version when the provider was asked. If it has changed since, the report may be older than
    the change: sums that only grow count nevertheless, and the provider is asked again at once. Reports without news
    change nothing, and one that cannot be true only alerts the shop. When the payments of a draft cover its total, its
    order is placed; when they have ended without money, its stock goes back; money that comes too late for an order, or
    when it was cancelled, goes back.
    """
    locked = lock_payment(shop, payment)
    known: Any = {"amount": locked.amount, "currency": locked.currency, "reference": locked.reference}
    known["asked"] = dict(locked.refunds.values_list("key", "amount")) if report.refunds else {}
    if problem := contradiction(report, **known):
        _refuse(locked, problem, source, now)
        return locked
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


def apply_report(*, shop: Shop, payment: Payment, report: Report, source: str, is_fresh: bool, now: datetime) -> None:
    """Apply, log and follow up a report about a locked payment."""
    captured, disputed = payment.captured, payment.disputed
    before = _facts(payment)
    refunds = refund_ledger.record(shop=shop, payment=payment, report=report, now=now)
    returned = [change.amount for change in refunds]
    move(payment, report, source=source, is_fresh=is_fresh, returned=returned, now=now)
    if before != _facts(payment):
        payment.looks, payment.updated_at = 0, now
        payment.version += 1
        payment.save()
    if payment.order is not None:
        _follow_money(shop, payment.order, now)
    if refunds:
        refund_ledger.follow(shop=shop, order=payment.order, changes=refunds, now=now)
    if payment.order is not None:
        if refunds or payment.disputed != disputed:
            is_disputed = Payment.objects.filter(shop=shop, order=payment.order, disputed__gt=ZERO).exists()
            follow_payments(order=payment.order, is_disputed=is_disputed, now=now)
        if payment.order.status == Order.Status.CANCELLED and payment.captured > captured:
            refund_ledger.return_money(payment, now, alerts.CANCELLED_MEANWHILE)
    elif payment.draft is not None:
        follow_payment(shop=shop, payment=payment, draft=payment.draft, now=now)
    else:
        # The draft ended long ago and was deleted.
        refund_ledger.return_money(payment, now)
    _alert(payment, alert_of(payment) or ("" if is_fresh else payment.alert), now)
    payment.due_at = _next_due(payment, now)
    payment.save(update_fields=["due_at"])


def alert_of(payment: Payment) -> str:
    """What the shop has to look at in a payment as it is; empty if nothing."""
    if payment.state != State.PAID:
        return ""
    waits = payment.draft is not None and payment.draft.state == OrderDraft.State.OPEN
    if payment.order_id is None and not waits and payment.captured > payment.refunded:
        return alerts.NO_ORDER
    if payment.captured < payment.amount:
        return alerts.TOOK_LESS % {"captured": f"{payment.captured:.2f}", "amount": f"{payment.amount:.2f}"}
    return ""


def _refuse(payment: Payment, problem: str, source: str, now: datetime) -> None:
    """Note for the shop that a report about a locked payment was not believed."""
    if _alert(payment, problem, now):
        append_to_log(payment, [(PaymentEntry.Kind.REFUSED, ZERO)], was=payment.state, source=source, now=now)
    payment.due_at = next_look(payment, now)
    payment.save(update_fields=["due_at"])


def _alert(payment: Payment, text: str, now: datetime) -> bool:
    """Have the shop look at the payment, or no longer. Whether that is new."""
    if payment.alert == text:
        return False
    payment.alert, payment.updated_at = text, now
    payment.save(update_fields=["alert", "updated_at"])
    if text:
        log.error("payment_needs_attention", payment=payment.pk, provider=payment.gateway, reason=text)
    return True


def _facts(payment: Payment) -> tuple:
    sums = (payment.captured, payment.returned, payment.disputed, payment.refunded)
    texts = (payment.failure, payment.dispute, payment.method)
    return (payment.state, payment.reference, *sums, *texts)


def _follow_money(shop: Shop, order: Order, now: datetime) -> None:
    """Record that the order is paid, once its payments have taken its total."""
    if order.payment_status == Order.PaymentStatus.PENDING:
        captured = sum(Payment.objects.filter(shop=shop, order=order).values_list("captured", flat=True), ZERO)
        if captured >= order.total:
            orders.set_paid(order, now)


def _next_due(payment: Payment, now: datetime) -> datetime | None:
    """When the worker asks about the payment next."""
    draft, state = payment.draft, payment.state
    if state == State.PAID:
        provider = PROVIDERS.get(payment.gateway)
        return next_look_at_paid(payment.updated_at, now) if provider and provider.keeps_books else None
    if state == State.PROMISED:
        return None
    if state == State.CANCELLED:
        is_unknown = not payment.reference and not payment.failure and now < payment.created_at + MAY_STILL_ARRIVE
        return now + wait_before_look(payment.looks) if is_unknown else None
    is_unwanted = payment.order is None and (draft is None or draft.state != OrderDraft.State.OPEN)
    return now if is_unwanted and not payment.looks else next_look(payment, now)


def next_look(payment: Payment, now: datetime) -> datetime | None:
    """After a growing wait, and where a draft expires before that, then. Nobody waits for a payment that is paid, or
    makes no sense: those waits grow on, until it is over (None)."""
    draft, last = payment.draft, payment.updated_at + LOOKS_AT_PAID[-1]
    if payment.state == State.PAID or payment.alert:
        after = now + wait_before_look(payment.looks, longest=LOOKS_AT_PAID[-1])
        return after if after <= last else None
    after = now + wait_before_look(payment.looks)
    if payment.order_id is None and draft is not None and now < draft.expires_at < after:
        return draft.expires_at
    return after

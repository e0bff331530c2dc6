"""The ledger of money that goes back: a row for each refund of a provider, asked for here or made elsewhere.

Reports of providers become rows. The sums of payments and orders, the entries of the log, events, mails and credit
notes follow from rows, so it does not matter in which order, how often or how late something is reported (R-APP-46).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import structlog

from storefront.kit.money import ZERO
from storefront.orders import actions as orders
from storefront.orders.models import Order
from storefront.orders.queries import refund_record
from storefront.payments import alerts
from storefront.payments.line_refunds import release_lines
from storefront.payments.models import Payment, Refund
from storefront.payments.payment_ledger import move
from storefront.payments.providers.base import RefundReport, RefundStanding, Report, Standing
from storefront.payments.rules import State, clean
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

log = structlog.get_logger(__name__)

Status = Refund.Status

# Statuses in the order in which a refund moves through them.
_RANKS = {Status.PENDING: 0, Status.DONE: 1, Status.FAILED: 2}


@dataclass(frozen=True)
class Change:
    """A refund that has got another status, which `follow` stores. `was` is the one before, empty for one that was not
    known."""

    refund: Refund
    was: str

    @property
    def amount(self) -> Decimal:
        """How much more has gone back by that; below zero if it came back."""
        return self.refund.amount * ((self.refund.status == Status.DONE) - (self.was == Status.DONE))


def reserve(payment: Payment, amount: Decimal, reason: str, now: datetime, *, restocked: bool = False) -> Refund:
    """Have this amount of a locked payment given back. The worker sends it to the provider."""
    payment.refunded += amount
    payment.updated_at = now
    payment.save(update_fields=["refunded", "updated_at"])
    refund = _new(payment, amount, now, reason=reason, restocked=restocked)
    refund.save()
    return refund


def return_money(payment: Payment, now: datetime, reason: str = alerts.TOO_LATE) -> None:
    """Return the money of a locked payment that cannot become an order, or that came for one that is cancelled; once.
    Held money is cancelled by the worker (`rules.next_call`)."""
    left = payment.captured - payment.refunded
    if payment.state == State.PAID and left > ZERO:
        if not payment.refunds.filter(status=Status.FAILED, is_foreign=False).exists():
            # Reserved, so that a second report returns nothing twice.
            reserve(payment, left, reason, now)
    elif payment.state == State.PROMISED:
        move(payment, Report(Standing.CANCELLED), now=now)
        payment.save()
    elif payment.state == State.AUTHORISED:
        payment.due_at = now
        payment.save(update_fields=["due_at"])


def record(*, shop: Shop, payment: Payment, report: Report, now: datetime) -> list[Change]:
    """Update the refund rows of the locked payment from the report. Their new sums are set in the payment, which the
    caller saves; the changes go to `follow`."""
    if report.refunds is None or not (report.refunds or payment.refunded):
        return []
    rows = list(Refund.objects.select_for_update(of=("self",), no_key=True).filter(shop=shop, payment=payment))
    # Known refunds come first, so that the amount left for refunds without our key is known.
    reports = sorted(report.refunds, key=lambda reported: _row_of(reported, rows) is None)
    changes = [change for reported in reports for change in _record(payment, rows, reported, now)]
    payment.returned = _sum(rows, Status.DONE)
    payment.refunded = min(_sum(rows, Status.DONE, Status.PENDING), payment.amount)
    return changes


def follow(*, shop: Shop, order: Order | None, changes: Sequence[Change], now: datetime) -> None:
    """Store the changes of refunds, and bring the locked order up to each in turn: one event and one mail for each that
    was carried out. Those that failed come first, so that the order's sum never exceeds what went back."""
    for change in sorted(changes, key=lambda change: change.amount):
        change.refund.save()
        if order is not None:
            _follow(shop, order, change, now)
    for change in changes:
        if change.refund.status == Status.FAILED and change.was:
            _announce_failed(shop, change.refund, now)
            release_lines(shop=shop, refund=change.refund, now=now)
    if order is not None and changes:
        orders.have_documents_issued(order, now)
        order.refresh_from_db()


def _follow(shop: Shop, order: Order, change: Change, now: datetime) -> None:
    # With its refunds as they are now, which its events tell.
    order.refresh_from_db()
    refunded = min(_sum(order.refunds.all(), Status.DONE), order.total)
    paid = Payment.objects.filter(shop=shop, order=order).values_list("captured", flat=True)
    captured = min(sum(paid, ZERO), order.total)
    if refunded > order.refunded:
        orders.set_refunded(order, refunded, refund=change.refund, is_all=refunded >= captured, now=now)
    elif refunded < order.refunded:
        orders.take_back_refund(order, refunded, is_paid=captured >= order.total, now=now)


def _record(payment: Payment, rows: list[Refund], reported: RefundReport, now: datetime) -> Iterable[Change]:
    """Record the report of one refund in its row, or in a new one. Yields the changes."""
    row = _row_of(reported, rows)
    status = Status(reported.standing)
    failure = clean(reported, why=255).why or alerts.NOT_GIVEN_BACK if status == Status.FAILED else ""
    if row is None:
        if _may_be_ours(reported, rows):
            # The refund's own call has no answer yet, which will name it.
            return []
        given = {"is_foreign": True, "reference": reported.reference, "status": status, "failure": failure}
        rows.append(_new(payment, reported.amount, now, **given))
        return [Change(rows[-1], "")]
    if not row.reference and not any(reported.reference == other.reference for other in rows):
        row.reference = reported.reference
        row.save(update_fields=["reference"])
    if _RANKS[status] <= _RANKS[Status(row.status)]:
        return []
    change = Change(row, row.status)
    row.status, row.failure, row.updated_at = status, failure, now
    return [change]


def _row_of(reported: RefundReport, rows: Sequence[Refund]) -> Refund | None:
    """The row of this refund, by our key, or else by the provider's id. One that was declined, so that it has no id,
    is not one that went back."""
    went = reported.reference and reported.standing != RefundStanding.FAILED
    asked = (
        row for row in rows if row.key == reported.key and (row.reference or row.status != Status.FAILED or not went)
    )
    named = (row for row in rows if row.reference and row.reference == reported.reference)
    return next(asked, None) or next(named, None)


def _may_be_ours(reported: RefundReport, rows: Iterable[Refund]) -> bool:
    """Whether a refund without our key may be one that was asked for here: the provider may keep no keys."""
    unnamed = (row for row in rows if row.status == Status.PENDING and not row.reference)
    return reported.key is None and any(row.amount == reported.amount for row in unnamed)


def _new(payment: Payment, amount: Decimal, now: datetime, **given: Any) -> Refund:
    return Refund(
        shop_id=payment.shop_id,
        order=payment.order,
        payment=payment,
        amount=amount,
        currency=payment.currency,
        due_at=now,
        created_at=now,
        updated_at=now,
        **given,
    )


def _sum(rows: Iterable[Refund], *statuses: Refund.Status) -> Decimal:
    return sum((row.amount for row in rows if row.status in statuses), ZERO)


def _announce_failed(shop: Shop, refund: Refund, now: datetime) -> None:
    """Tell apps that a refund failed, or the log where no order stands for it."""
    if refund.order_id is None:
        # No app hears of it: the merchant sees it with the payment.
        log.error("late_money_not_returned", payment=refund.payment_id, refund=refund.pk, reason=refund.failure)
    else:
        record_event(shop=shop, topic="refund.failed", data=refund_record(refund), now=now)

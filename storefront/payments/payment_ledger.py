"""The ledger of payments: what a provider reported is written into the payment, and each change appended to its log."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from storefront.kit.money import ZERO
from storefront.payments.models import OrderDraft, Payment, PaymentEntry
from storefront.payments.providers.base import Report
from storefront.payments.rules import STATUSES, State, clean, next_state

Kind = PaymentEntry.Kind


def open_payment(*, draft: OrderDraft, state: State, now: datetime, **columns: Any) -> Payment:
    """Store a new payment of the draft, and the first entry of its log."""
    columns |= {"currency": draft.currency, "status": STATUSES[state], "created_at": now, "updated_at": now}
    payment = Payment.objects.create(shop_id=draft.shop_id, draft=draft, state=state, **columns)
    append_to_log(payment, [(Kind.STATE, ZERO)], was="", source="call", now=now)
    return payment


def move(
    payment: Payment,
    report: Report,
    *,
    source: str = "call",
    is_fresh: bool = True,
    returned: Iterable[Decimal] = (),
    now: datetime,
) -> None:
    """Write the report into the locked payment, which the caller saves, and into its log. `returned` is what went back
    by each of its refunds."""
    report = clean(report, failure=255, dispute=100, method=100)
    was, becomes = payment.state, next_state(State(payment.state), report, is_fresh=is_fresh)
    captured = max(payment.captured, report.captured)
    disputed = report.disputed if is_fresh else payment.disputed
    amounts = [
        (Kind.CAPTURED, captured - payment.captured),
        *((Kind.RETURNED, -amount) for amount in returned),
        (Kind.DISPUTED, payment.disputed - disputed),
    ]
    entries = [(kind, amount) for kind, amount in amounts if amount]
    if was != becomes and not entries:
        entries = [(Kind.STATE, ZERO)]
    payment.captured, payment.disputed = captured, disputed
    payment.state, payment.status = becomes, STATUSES[becomes]
    payment.reference = payment.reference or report.reference
    if is_fresh:
        payment.failure, payment.dispute = report.failure, report.dispute
        if payment.order is None or payment.order.erased_at is None:
            payment.method = report.method or payment.method
    if payment.status != Payment.Status.PENDING:
        payment.place = ""
    append_to_log(payment, entries, was=was, source=source, now=now)


def append_to_log(
    payment: Payment, entries: Iterable[tuple[Kind, Decimal]], *, was: str, source: str, now: datetime
) -> None:
    """Append these kinds of entries, with their amounts."""
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
            detail=payment.alert or payment.failure or payment.dispute,
        )
        for kind, amount in entries
    )

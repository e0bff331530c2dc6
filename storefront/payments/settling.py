"""The one place where payments change: what was found out about a payment is applied, logged, and followed up.

Rows are locked in one order, so that transactions cannot deadlock: checkout, cart, draft, order, payments; then stock,
and the shop's order counter last. Those of payments, orders and drafts are locked without their keys: at the commit,
PostgreSQL may look at the keys of rows that are referred to, out of that order.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import structlog
from django.db import transaction

from storefront.carts.models import Cart
from storefront.catalogue.stock import InsufficientStock
from storefront.gift_cards import ledger
from storefront.kit.money import ZERO
from storefront.orders import actions as orders
from storefront.orders.gift_cards import follow_payments
from storefront.orders.models import Order
from storefront.payments import drafts, refund_ledger
from storefront.payments.frozen import thaw_sale
from storefront.payments.models import OrderDraft, Payment, PaymentEntry, Refund
from storefront.payments.providers.base import Report, Standing
from storefront.payments.providers.gift_card import GIFT_CARD
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import (
    LOOKS_AT_PAID,
    MAY_STILL_ARRIVE,
    SECURED,
    STATUSES,
    UNDECIDED,
    State,
    clean,
    contradiction,
    next_look_at_paid,
    next_state,
    wait_before_look,
)
from storefront.pricing.redeeming import DiscountUsedUp
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

TOO_LATE = "The payment came after the order could no longer be placed."
CANCELLED_MEANWHILE = "The money was taken when the order had been cancelled."


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
    if problem := contradiction(report, **known) or refund_ledger.contradiction(locked, report):
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


def lock_draft(shop: Shop, draft_id: int) -> OrderDraft:
    """The draft, locked after its checkout and its cart."""
    draft = OrderDraft.objects.get(shop=shop, pk=draft_id)
    list(draft.checkouts.select_for_update(of=("self",)).values_list("pk"))
    Cart.objects.select_for_update(of=("self",)).filter(shop=shop, drafts=draft).first()
    return OrderDraft.objects.select_for_update(of=("self",), no_key=True).get(shop=shop, pk=draft_id)


def apply_report(*, shop: Shop, payment: Payment, report: Report, source: str, is_fresh: bool, now: datetime) -> None:
    """Apply, log and follow up a report about a locked payment."""
    captured, disputed = payment.captured, payment.disputed
    before = _facts(payment)
    refunds = refund_ledger.record(shop=shop, payment=payment, report=report, is_fresh=is_fresh, now=now)
    _move(payment, report, source, is_fresh, now, refunds)
    if before != _facts(payment):
        payment.looks, payment.updated_at = 0, now
        payment.version += 1
        payment.save()
    if payment.order is not None:
        _follow_money(shop, payment.order, now)
    refund_ledger.follow(shop=shop, order=payment.order, changes=refunds, now=now)
    if payment.order is not None:
        if refunds or payment.disputed != disputed:
            is_disputed = Payment.objects.filter(shop=shop, order=payment.order, disputed__gt=ZERO).exists()
            follow_payments(order=payment.order, is_disputed=is_disputed, now=now)
        if payment.order.status == Order.Status.CANCELLED and payment.captured > captured:
            _return_money(payment, now, CANCELLED_MEANWHILE)
    elif payment.draft is not None:
        _follow_draft(shop, payment, payment.draft, now)
    else:
        # The draft ended long ago and was deleted.
        _return_money(payment, now)
    _alert(payment, alert_of(payment) or ("" if is_fresh else payment.alert), now)
    payment.due_at = _next_due(payment, now)
    payment.save(update_fields=["due_at"])


def alert_of(payment: Payment) -> str:
    """What the shop has to look at in a payment as it is; empty if nothing."""
    if payment.state != State.PAID:
        return ""
    waits = payment.draft is not None and payment.draft.state == OrderDraft.State.OPEN
    if payment.order_id is None and not waits and payment.captured > payment.refunded:
        return "There is no order for this money, and it could not be given back. Please refund it at the provider."
    if payment.captured < payment.amount:
        return f"The provider took {payment.captured:.2f} of the {payment.amount:.2f} that were asked for."
    return ""


def place_order(*, shop: Shop, draft: OrderDraft, payments: list[Payment], now: datetime) -> Order:
    """Place the order of a locked draft that is paid for with these payments and its gift cards. Without `payments`,
    gift cards pay for all of it, or it is free."""
    cards = _card_payments(draft)
    for each in cards:
        _move_card(each, Report(Standing.PAID, captured=each.amount), now)
    order = drafts.place_draft(shop=shop, draft=draft, payments=[*payments, *cards], now=now)
    _follow_money(shop, order, now)
    return order


def end_if_over(*, shop: Shop, draft: OrderDraft, now: datetime) -> None:
    """End an expired draft whose payments have all ended, or have taken only part of its total."""
    with transaction.atomic():
        locked = lock_draft(shop, draft.pk)
        payments = list(locked.payments.select_for_update(of=("self",), no_key=True))
        is_open = locked.state == OrderDraft.State.OPEN and locked.expires_at <= now
        # A provider's reports may be contradictory for ever: nothing waits for these payments.
        if is_open and not any(each.state in UNDECIDED and not each.alert for each in payments):
            _end_draft(shop, locked, payments, now)


def _refuse(payment: Payment, problem: str, source: str, now: datetime) -> None:
    """Note for the shop that a report about a locked payment was not believed."""
    if _alert(payment, problem, now):
        _log(payment, [(PaymentEntry.Kind.REFUSED, ZERO)], payment.state, source, now)
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


def _move(
    payment: Payment,
    report: Report,
    source: str,
    is_fresh: bool,
    now: datetime,
    refunds: Sequence[refund_ledger.Change] = (),
) -> None:
    """Write the report, whose `refunds` are in their rows, into the payment and the log."""
    was, becomes = payment.state, next_state(State(payment.state), report, is_fresh=is_fresh)
    captured = max(payment.captured, report.captured)
    disputed = report.disputed if is_fresh else payment.disputed
    amounts = [
        (PaymentEntry.Kind.CAPTURED, captured - payment.captured),
        *((PaymentEntry.Kind.RETURNED, -change.amount) for change in refunds),
        (PaymentEntry.Kind.DISPUTED, payment.disputed - disputed),
    ]
    entries = [(kind, amount) for kind, amount in amounts if amount]
    if was != becomes and not entries:
        entries = [(PaymentEntry.Kind.STATE, ZERO)]
    payment.captured, payment.disputed = captured, disputed
    payment.state, payment.status = becomes, STATUSES[becomes]
    payment.reference = payment.reference or report.reference
    if is_fresh:
        payment.failure, payment.dispute = clean(report.failure, 255), clean(report.dispute, 100)
        if payment.order is None or payment.order.erased_at is None:
            payment.method = clean(report.method, 100) or payment.method
    if payment.status != Payment.Status.PENDING:
        payment.place = ""
    _log(payment, entries, was, source, now)


def _facts(payment: Payment) -> tuple:
    sums = (payment.captured, payment.returned, payment.disputed, payment.refunded)
    texts = (payment.failure, payment.dispute, payment.method)
    return (payment.state, payment.reference, *sums, *texts)


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
            detail=payment.alert or payment.failure or payment.dispute,
        )
        for kind, amount in entries
    )


def _follow_draft(shop: Shop, payment: Payment, draft: OrderDraft, now: datetime) -> None:
    """What the payment means to the draft that it was started for. What gift cards pay of it is spent as long as it is
    open, and can be spent again after that."""
    others = draft.payments.exclude(pk=payment.pk).select_for_update(of=("self",), no_key=True)
    payments = [each for each in (payment, *others) if each.gateway != GIFT_CARD]
    secured = [each for each in payments if each.state in SECURED and each.order_id is None]
    due = thaw_sale(draft.sale).amount_due
    if draft.state == OrderDraft.State.PLACED or draft.is_replaced:
        _return_money(payment, now)
    elif sum((_secured_amount(each) for each in secured), ZERO) >= due and _has_stock(shop, draft, now):
        payment.order = place_order(shop=shop, draft=draft, payments=secured, now=now)
    elif draft.state == OrderDraft.State.ENDED:
        for each in secured:
            _return_money(each, now)
    elif not secured and not any(each.state in UNDECIDED for each in payments):
        _end_draft(shop, draft, [], now)


def _end_draft(shop: Shop, draft: OrderDraft, payments: list[Payment], now: datetime) -> None:
    """End a locked, open draft without an order. What these payments have taken goes back, and what was spent of gift
    cards at once."""
    drafts.end_draft(shop=shop, draft=draft, now=now)
    for each in payments:
        if each.gateway != GIFT_CARD:
            _return_money(each, now)
    # Cards come last in the order of locks, in the order of their ids.
    for each in sorted(_card_payments(draft), key=lambda each: int(each.reference)):
        ledger.release(shop=shop, payment=each.key, now=now)
        _move_card(each, Report(Standing.CANCELLED), now)


def _card_payments(draft: OrderDraft) -> list[Payment]:
    """What the draft holds of gift cards."""
    held = draft.payments.filter(gateway=GIFT_CARD, state=State.AUTHORISED, order=None)
    return list(held.select_for_update(of=("self",), no_key=True))


def _move_card(payment: Payment, report: Report, now: datetime) -> None:
    _move(payment, report, "call", True, now)
    payment.version, payment.updated_at = payment.version + 1, now
    payment.save()


def _secured_amount(payment: Payment) -> Decimal:
    return payment.captured - payment.refunded if payment.state == State.PAID else payment.amount


def _has_stock(shop: Shop, draft: OrderDraft, now: datetime) -> bool:
    """Whether the draft holds its stock, or could take it again."""
    if draft.state == OrderDraft.State.OPEN:
        return True
    try:
        drafts.retake_stock(shop=shop, draft=draft, now=now)
    except (InsufficientStock, DiscountUsedUp, ledger.GiftCardChanged):
        return False
    return True


def _return_money(payment: Payment, now: datetime, reason: str = TOO_LATE) -> None:
    """Have money given back that cannot become an order, or that came for one that is cancelled; once. Held money is
    cancelled by the worker (`rules.next_call`)."""
    left = payment.captured - payment.refunded
    if payment.state == State.PAID and left > ZERO:
        if not payment.refunds.filter(status=Refund.Status.FAILED, is_foreign=False).exists():
            # Reserved, so that a second report gives nothing back twice.
            refund_ledger.reserve(payment, left, reason, now)
    elif payment.state == State.PROMISED:
        _move(payment, Report(Standing.CANCELLED), "call", True, now)
        payment.save()
    elif payment.state == State.AUTHORISED:
        payment.due_at = now
        payment.save(update_fields=["due_at"])


def _follow_money(shop: Shop, order: Order, now: datetime) -> None:
    """Record that the order is paid, once its payments have taken its total."""
    captured = sum(Payment.objects.filter(shop=shop, order=order).values_list("captured", flat=True), ZERO)
    if order.payment_status == Order.PaymentStatus.PENDING and captured >= order.total:
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

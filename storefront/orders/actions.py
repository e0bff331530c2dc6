from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from storefront.customers.actions import remember_language
from storefront.customers.queries import account_of
from storefront.kit import metrics
from storefront.kit.refusals import Refusal
from storefront.kit.sql import fetch
from storefront.orders import jobs
from storefront.orders.downloads import copy_files, open_downloads
from storefront.orders.gift_cards import issue_gift_cards, withdraw_gift_cards
from storefront.orders.models import Order, OrderCounter, OrderLine
from storefront.orders.queries import order_record
from storefront.orders.rules import Sale, SaleLine
from storefront.orders.sending import follow_lines
from storefront.orders.words import keep_words
from storefront.pricing.redeeming import release_uses
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

# Members of an order that the shop and its apps can change at any time.
ANNOTATIONS = ("note", "tags", "client_reference", "metadata")
_COUNT = "UPDATE orders_ordercounter SET last_number = last_number + 1 WHERE shop_id = %(shop)s RETURNING last_number"
# What of a sale is no column of its order.
_NOT_COPIED = ("lines", "place", "attribution", "discount_uses")


class OrderNotOpen(Refusal):
    """The order is cancelled or fulfilled, so it can no longer be changed in this way."""

    code = "order_not_open"
    message = _lazy("Only an open order can be changed in this way.")


class PartlyFulfilled(Refusal):
    code = "order_partly_fulfilled"
    message = _lazy(
        "Part of this order has been fulfilled, so it cannot be cancelled. Fulfil the rest, or refund the items "
        "that will not be shipped."
    )


@transaction.atomic(savepoint=False)
def create_order(*, shop: Shop, sale: Sale, taken: list[StockUse], payment_method: str, now: datetime) -> Order:
    """Create the order of a sale whose stock was `taken`. Without a payment method, it is free.

    Call `announce_order` in the same transaction, once its payments are attached.
    """
    # Updating the counter locks its row until the commit, and all other sales of the shop wait for it.
    order = Order(
        shop=shop,
        number=_next_number(shop),
        payment_method=payment_method,
        payment_status=Order.PaymentStatus.PENDING if payment_method else Order.PaymentStatus.PAID,
        placed_by_guest=sale.customer_id is None,
        placed_at=now,
        updated_at=now,
        **{each.name: getattr(sale, each.name) for each in fields(sale) if each.name not in _NOT_COPIED},
        **sale.attribution,
    )
    if order.placed_by_guest:
        # Read after the counter was locked, for `history.attach_guest_orders`.
        order.customer = account_of(shop, sale.email)
    order.save(force_insert=True)
    if sale.customer_id is not None and sale.language:
        remember_language(shop=shop, customer_id=sale.customer_id, language=sale.language)
    lines = OrderLine.objects.bulk_create([_order_line(order, line, taken) for line in sale.lines])
    copy_files(order=order, lines=lines)
    keep_words([(order, lines)])
    if not payment_method:
        _deliver(order, now)
        have_documents_issued(order, now)
    return order


def announce_order(*, shop: Shop, order: Order, sale: Sale, is_paid: bool = False, now: datetime) -> None:
    """Record the event of a created order, queue the confirmation mail, and record that it is paid, if it is."""
    record_event(shop=shop, topic="order.placed", data=order_record(order), now=now)
    _complete(order, now)
    after = {name: getattr(order, name) for name in ("total", "currency", "payment_method")} | {
        "lines": len(sale.lines)
    }
    # Only the id; personal data are in the order.
    actor = audit.Actor(audit.Kind.CUSTOMER, sale.customer_id)
    audit.record(shop=shop, action="order.placed", object=order, after=after, actor=actor, now=now)
    # The task is a row in the same database, so the mail is sent if and only if the order is committed.
    jobs.send_order_confirmation.enqueue(order.shop_id, order.pk)
    if shop.tells_of_orders:
        jobs.tell_merchant.enqueue(order.shop_id, order.pk)
    if is_paid:
        set_paid(order, now)
    transaction.on_commit(metrics.ORDERS.inc)


def set_paid(order: Order, now: datetime) -> None:
    """Record that a locked order is paid."""
    order.payment_status, order.updated_at = Order.PaymentStatus.PAID, now
    order.save(update_fields=["payment_status", "updated_at"])
    _deliver(order, now)
    have_documents_issued(order, now)
    record_event(shop=order.shop, topic="order.paid", data=order_record(order), now=now)
    if now > order.placed_at:
        # An order that is paid when it is placed gets no second mail: its confirmation has the payment.
        jobs.send_change_mail.enqueue(order.shop_id, order.pk, "paid")
    _complete(order, now)


def set_refunded(order: Order, refunded: Decimal, *, refund: Any, is_all: bool, now: datetime) -> None:
    """Record how much of a locked order has been refunded in all, with this refund. `refund` is a row of a higher
    room."""
    jobs.send_change_mail.enqueue(order.shop_id, order.pk, "refunded", str(refund.amount), [refund.pk])
    order.refunded, order.updated_at = refunded, now
    order.payment_status = Order.PaymentStatus.REFUNDED if is_all else Order.PaymentStatus.PARTIALLY_REFUNDED
    order.save(update_fields=["refunded", "payment_status", "updated_at"])
    if is_all:
        withdraw_gift_cards(order=order, now=now)
    record_event(shop=order.shop, topic="order.refunded", data=order_record(order), now=now)


def take_back_refund(order: Order, refunded: Decimal, *, is_paid: bool, now: datetime) -> None:
    """Record that a refund of a locked order failed after all, so that less has been refunded."""
    statuses = Order.PaymentStatus
    without = statuses.PAID if is_paid else statuses.PENDING
    order.refunded, order.updated_at = refunded, now
    order.payment_status = statuses.PARTIALLY_REFUNDED if refunded else without
    order.save(update_fields=["refunded", "payment_status", "updated_at"])


def check_cancellable(order: Order) -> None:
    """Raises OrderNotOpen or PartlyFulfilled if the order cannot be cancelled."""
    is_begun = order.fulfilments.filter(cancelled_at=None).exists()
    if order.status == Order.Status.CANCELLED or (order.status == Order.Status.FULFILLED and is_begun):
        raise OrderNotOpen
    if is_begun:
        raise PartlyFulfilled


@transaction.atomic
def cancel_order(*, shop: Shop, order: Order, reason: str = "", restock: bool = True, now: datetime) -> Order:
    """Cancel an order of which nothing was sent. `restock` returns its stock. Uses of discounts are released, and gift
    cards that it sold are disabled. `payments.actions.cancel_order` ends its payments.

    Raises OrderNotOpen and PartlyFulfilled.
    """
    order = lock_order(shop, order)
    check_cancellable(order)
    before = {"status": order.status}
    restocked = restock and restock_order(order, reason, now)
    release_uses(shop=shop, sale=order.redemption)
    order.status, order.cancelled_at, order.updated_at = Order.Status.CANCELLED, now, now
    order.cancel_reason = reason
    order.save(update_fields=["status", "cancelled_at", "cancel_reason", "restocked_at", "updated_at"])
    if order.payment_status != Order.PaymentStatus.PENDING:
        have_documents_issued(order, now)
    withdraw_gift_cards(order=order, now=now)
    jobs.send_change_mail.enqueue(order.shop_id, order.pk, "cancelled")
    record_event(shop=shop, topic="order.cancelled", data=order_record(order), now=now)
    after = {"status": order.status, "reason": reason, "restocked": restocked}
    audit.record(shop=shop, action="order.cancelled", object=order, before=before, after=after, now=now)
    return order


@transaction.atomic
def annotate_order(*, shop: Shop, order: Order, changes: Mapping[str, Any], now: datetime) -> Order:
    """Update the members of `ANNOTATIONS` that `changes` has; nothing else of an order changes (R-APP-33). A change is
    an event (R-HOOK-26)."""
    order = lock_order(shop, order)
    before = annotations(order)
    for field in ANNOTATIONS:
        if field in changes:
            setattr(order, field, changes[field])
    order.updated_at = now
    order.save(update_fields=[*ANNOTATIONS, "updated_at"])
    after, action = annotations(order), "order.updated"
    audit.record_change(shop=shop, action=action, object=order, before=before, after=after, now=now)
    if after != before:
        record_updated(shop=shop, order=order, now=now)
    return order


def annotations(order: Order) -> dict[str, Any]:
    return {name: getattr(order, name) for name in ANNOTATIONS}


def record_updated(*, shop: Shop, order: Order, now: datetime) -> None:
    """Record the event that the order's own data changed. Call it last in the transaction that changes it."""
    record_event(shop=shop, topic="order.updated", data=order_record(order), now=now)


def lock_order(shop: Shop, order: Order) -> Order:
    """The current row of the order, locked until the caller's transaction ends."""
    return Order.objects.select_for_update(no_key=True).get(shop=shop, pk=order.pk)


def restock_order(order: Order, reason: str, now: datetime) -> bool:
    """Return the order's pieces to stock that were not returned before. Returns False if all were.

    The caller has locked the order and saves `restocked_at`.
    """
    if order.restocked_at is not None:
        return False
    pieces = {line: line.qty - line.restocked_qty for line in order.lines.all()}
    put_back_pieces(order, pieces, reason, now)
    order.restocked_at = now
    return True


def put_back_pieces(order: Order, pieces: Mapping[OrderLine, int], reason: str, now: datetime) -> None:
    """Return this many pieces of a locked order's lines to stock. The caller makes sure that no piece is returned
    twice."""
    uses = [
        StockUse(taken["stock"], taken["id"], taken["qty"] * qty // line.qty)
        for line, qty in pieces.items()
        for taken in line.stock_taken
    ]
    put_back_stock(shop=order.shop, uses=uses, reference=f"order {order.number}", reason=reason[:255], now=now)
    for line, qty in pieces.items():
        line.restocked_qty += qty
    OrderLine.objects.bulk_update(pieces, ["restocked_qty"])


def take_stock_of(shop: Shop, lines: list[SaleLine], now: datetime, reference: str = "") -> list[StockUse]:
    """Take the stock of these lines; `reference` identifies the sale in the stock ledger. Returns the stocks that were
    lowered. Raises InsufficientStock, whose message names the line that is short and how many pieces are left."""
    try:
        uses = [use for line in lines for use in line.uses]
        return take_stock(shop=shop, uses=uses, reference=reference, now=now)
    except InsufficientStock as error:
        raise _name_short_line(error, lines) from None


def _name_short_line(error: InsufficientStock, lines: list[SaleLine]) -> InsufficientStock:
    """The refusal with a message for shoppers: which line is short, and how many pieces are left."""
    short = error.use
    name = next(line.name for line in lines if short and any(_is_same_stock(use, short) for use in line.uses))
    if error.available == 0:
        return InsufficientStock(_("%(name)s is sold out.") % {"name": name}, available=0, use=short)
    message = _("Only %(available)s left of %(name)s.") % {"available": error.available, "name": name}
    return InsufficientStock(message, available=error.available, use=short)


def _is_same_stock(one: StockUse, other: StockUse) -> bool:
    return (one.kind, one.id) == (other.kind, other.id)


def lock_counter(shop: Shop) -> None:
    """Lock the row of the shop's last order number until the transaction ends: all other sales of the shop wait."""
    if OrderCounter.objects.select_for_update().filter(shop=shop).first() is None:
        OrderCounter.objects.bulk_create([OrderCounter(shop=shop)], ignore_conflicts=True)
        OrderCounter.objects.select_for_update().get(shop=shop)


def _deliver(order: Order, now: datetime) -> None:
    """Open the downloads and issue the gift cards of a locked order that is paid."""
    open_downloads(order=order, now=now)
    issue_gift_cards(order=order, now=now)


def _complete(order: Order, now: datetime) -> None:
    """Record that a paid order is fulfilled, if none of it needs sending. Call it after its other events."""
    lines = list(order.lines.all())
    is_sent = any(line.needs_sending for line in lines)
    if is_sent or order.status != Order.Status.OPEN or not follow_lines(order, lines):
        return
    order.save(update_fields=["status", "fulfilment_status"])
    record_event(shop=order.shop, topic="order.fulfilled", data=order_record(order), now=now)


def _next_number(shop: Shop) -> int:
    numbered = fetch(connection, _COUNT, {"shop": shop.pk})
    if not numbered:
        # The shop's first order. A concurrent first order waits here for this one's commit.
        OrderCounter.objects.bulk_create([OrderCounter(shop=shop)], ignore_conflicts=True)
        numbered = fetch(connection, _COUNT, {"shop": shop.pk})
    return int(numbered[0][0])


def _order_line(order: Order, line: SaleLine, taken: list[StockUse]) -> OrderLine:
    columns = {name: getattr(line, name) for name in line.__dataclass_fields__ if name != "uses"}
    # Record only stocks that were lowered: a cancellation must not raise a stock that is not tracked.
    own_uses = [use for use in line.uses if any(_is_same_stock(use, lowered) for lowered in taken)]
    stock_taken = [{"stock": use.kind, "id": use.id, "qty": use.qty} for use in own_uses]
    return OrderLine(shop=order.shop, order=order, stock_taken=stock_taken, **columns)


def have_documents_issued(order: Order, now: datetime) -> None:
    """Have the worker issue the order's invoice and credit notes. Documents are in a higher room, which is reached by
    its relation."""
    if order.total:
        order.documents_due.create(shop_id=order.shop_id, due_at=now)

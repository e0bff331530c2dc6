from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from storefront.kit.refusals import Refusal
from storefront.orders import jobs
from storefront.orders.models import Order, OrderCounter, OrderLine, Payment
from storefront.orders.queries import order_record
from storefront.orders.rules import Promise, Sale, SaleLine
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event


class OrderNotOpen(Refusal):
    """Cancelled and fulfilled orders stay as they are."""

    code = "order_not_open"
    message = "Only an open order can be changed in this way."


class PartlyFulfilled(Refusal):
    code = "order_partly_fulfilled"
    message = (
        "Part of this order has been handed over, so it cannot be cancelled. Fulfil what is left, or refund what will "
        "not be sent."
    )


class OrderNotPayable(Refusal):
    code = "order_not_payable"
    message = "This order is not waiting for a payment."


@transaction.atomic
def place_order(*, shop: Shop, sale: Sale, promise: Promise | None, now: datetime) -> Order:
    """Sell: take the stock, write the order with its copies, tell of it. All of it or nothing.

    Without a promise of payment there is nothing to pay. Raises InsufficientStock naming the line that is short and
    how many are left.
    """
    taken = _take_stock_of(shop, sale.lines, now)
    # The counter's row queues all sales of the shop until the commit, and a number that a refusal threw away would be
    # a gap in the books: so it comes after everything that can refuse.
    order = Order.objects.create(number=_next_number(shop), **_order_columns(shop, sale, promise, now))
    OrderLine.objects.bulk_create([_order_line(order, line, taken) for line in sale.lines])
    if promise:
        _write_down_promise(order, promise, now)
    record_event(shop=shop, topic="order.placed", data=order_record(order), now=now)
    # A row in the same database: the mail is due if and only if the order stands.
    jobs.send_order_confirmation.enqueue(order.pk)
    return order


@transaction.atomic
def mark_paid(*, shop: Shop, order: Order, now: datetime) -> Order:
    """The shop says that the money has come.

    Raises OrderNotPayable when it had come before, when the order is cancelled, or while a gateway holds the money and
    will say so itself.
    """
    order = lock_order(shop, order)
    waits = order.status != Order.Status.CANCELLED and order.payment_status == Order.PaymentStatus.PENDING
    if not waits or order.payments.filter(status=Payment.Status.AUTHORISED).exists():
        raise OrderNotPayable
    order.payments.filter(status=Payment.Status.PENDING).update(status=Payment.Status.PAID, updated_at=now)
    return _paid(order, now)


@transaction.atomic
def record_capture(*, shop: Shop, payment: Payment, now: datetime) -> bool:
    """Write down that the gateway took what it held; False when that was written down before."""
    order = lock_order(shop, payment.order)
    held = Payment.objects.filter(shop=shop, pk=payment.pk, status=Payment.Status.AUTHORISED)
    if not held.update(status=Payment.Status.PAID, updated_at=now):
        return False
    if order.payment_status == Order.PaymentStatus.PENDING:
        _paid(order, now)
    return True


@transaction.atomic
def record_void(*, shop: Shop, payment: Payment, now: datetime) -> bool:
    """Write down that the gateway let go of what it held; False when that was written down before."""
    held = Payment.objects.filter(shop=shop, pk=payment.pk, status=Payment.Status.AUTHORISED)
    return held.update(status=Payment.Status.VOIDED, updated_at=now) == 1


@transaction.atomic
def cancel_order(*, shop: Shop, order: Order, reason: str = "", restock: bool = True, now: datetime) -> Order:
    """Take the sale back: unless told otherwise its stock returns; payments that have not come are called off.

    Money that a gateway still holds is let go by `checkout.jobs.settle_payments`, which may wait on a network as no
    transaction may. Money that was paid stays paid until it is refunded. Raises OrderNotOpen and PartlyFulfilled.
    """
    order = lock_order(shop, order)
    if order.status != Order.Status.OPEN:
        raise OrderNotOpen
    if order.fulfilments.exists():
        raise PartlyFulfilled
    if restock:
        put_back_goods(order, now)
    order.payments.filter(status=Payment.Status.PENDING).update(status=Payment.Status.VOIDED, updated_at=now)
    order.status, order.cancelled_at, order.updated_at = Order.Status.CANCELLED, now, now
    order.cancel_reason = reason
    order.save(update_fields=["status", "cancelled_at", "cancel_reason", "restocked_at", "updated_at"])
    record_event(shop=shop, topic="order.cancelled", data=order_record(order), now=now)
    return order


@transaction.atomic
def annotate_order(*, shop: Shop, order: Order, changes: Mapping[str, Any], now: datetime) -> Order:
    """Change what `changes` names of the shop's own remarks: note, tags."""
    order = lock_order(shop, order)
    for field in ("note", "tags"):
        if field in changes:
            setattr(order, field, changes[field])
    order.updated_at = now
    order.save(update_fields=["note", "tags", "updated_at"])
    return order


def lock_order(shop: Shop, order: Order) -> Order:
    """The order as it stands, and nobody else changes it until the caller's transaction ends."""
    return Order.objects.select_for_update().get(shop=shop, pk=order.pk)


def put_back_goods(order: Order, now: datetime) -> bool:
    """Return to stock what the order took, once; whether they returned now. The caller, who has locked the order,
    saves `restocked_at`."""
    if order.restocked_at is not None:
        return False
    put_back_stock(shop=order.shop, uses=_stock_taken(order), now=now)
    order.restocked_at = now
    return True


def _take_stock_of(shop: Shop, lines: list[SaleLine], now: datetime) -> list[StockUse]:
    try:
        return take_stock(shop=shop, uses=[use for line in lines for use in line.uses], now=now)
    except InsufficientStock as error:
        raise _named(error, lines) from None


def _named(error: InsufficientStock, lines: list[SaleLine]) -> InsufficientStock:
    """The refusal in the shopper's words: which line is short, and how many are left."""
    short = error.use
    name = next(line.name for line in lines if short and any(_is_same_stock(use, short) for use in line.uses))
    if error.available == 0:
        return InsufficientStock(f"{name} is sold out.", available=0, use=short)
    return InsufficientStock(f"Only {error.available} left of {name}.", available=error.available, use=short)


def _is_same_stock(one: StockUse, other: StockUse) -> bool:
    return (one.kind, one.id) == (other.kind, other.id)


def _next_number(shop: Shop) -> int:
    counter = OrderCounter.objects.filter(shop=shop)
    if not counter.update(last_number=F("last_number") + 1):
        # The shop's first order; where two are first at once, the second waits here for the first one's commit.
        OrderCounter.objects.bulk_create([OrderCounter(shop=shop)], ignore_conflicts=True)
        counter.update(last_number=F("last_number") + 1)
    return counter.values_list("last_number", flat=True).get()


def _order_columns(shop: Shop, sale: Sale, promise: Promise | None, now: datetime) -> dict:
    return {
        "shop": shop,
        "currency": shop.currency,
        "prices_include_tax": shop.prices_include_tax,
        "payment_method": promise.gateway if promise else "",
        "payment_status": Order.PaymentStatus.PENDING if promise else Order.PaymentStatus.PAID,
        "placed_at": now,
        "updated_at": now,
        "customer_id": sale.customer_id,
        "email": sale.email,
        "phone": sale.phone,
        "subtotal": sale.subtotal,
        "discount": sale.discount,
        "shipping": sale.shipping,
        "tax": sale.tax,
        "total": sale.total,
        "tax_lines": sale.tax_lines,
        "discount_lines": sale.discount_lines,
        "shipping_method": sale.shipping_method,
        "shipping_address": sale.shipping_address,
        "billing_address": sale.billing_address,
        "shopper_note": sale.shopper_note,
    }


def _order_line(order: Order, line: SaleLine, taken: list[StockUse]) -> OrderLine:
    columns = {name: getattr(line, name) for name in line.__dataclass_fields__ if name != "uses"}
    # Only what really was lowered is written down: a cancellation must not raise a stock that nobody counts.
    mine = [use for use in line.uses if any(_is_same_stock(use, lowered) for lowered in taken)]
    stock_taken = [{"stock": use.kind, "id": use.id, "qty": use.qty} for use in mine]
    return OrderLine(shop=order.shop, order=order, stock_taken=stock_taken, **columns)


def _write_down_promise(order: Order, promise: Promise, now: datetime) -> Payment:
    status = Payment.Status.AUTHORISED if promise.is_held else Payment.Status.PENDING
    return Payment.objects.create(
        shop=order.shop,
        order=order,
        gateway=promise.gateway,
        status=status,
        amount=promise.amount,
        currency=order.currency,
        reference=promise.reference,
        created_at=now,
        updated_at=now,
    )


def _paid(order: Order, now: datetime) -> Order:
    order.payment_status, order.updated_at = Order.PaymentStatus.PAID, now
    order.save(update_fields=["payment_status", "updated_at"])
    record_event(shop=order.shop, topic="order.paid", data=order_record(order), now=now)
    return order


def _stock_taken(order: Order) -> list[StockUse]:
    taken = [entry for line in order.lines.all() for entry in line.stock_taken]
    return [StockUse(entry["stock"], entry["id"], entry["qty"]) for entry in taken]

"""Refunds of pieces of an order's lines, and of its delivery: what they come to, and what becomes of the pieces.

A line's pieces cost what the shopper paid for them: the line's sum less its share of the discount, with its tax where
prices do not include it. Shares are rounded on the sum of all pieces that are refunded, so that all parts of a line
come to exactly what was paid for it, and all lines with the delivery to the order's total (R-APP-44).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from storefront.kit.format import format_money
from storefront.kit.money import CENT, ZERO, quantize
from storefront.kit.refusals import Refusal
from storefront.orders.actions import put_back_pieces, record_updated
from storefront.orders.gift_cards import withdraw_pieces
from storefront.orders.models import Order, OrderLine
from storefront.orders.sending import follow_lines
from storefront.payments.models import Refund, RefundLine
from storefront.shops.models import Shop


class NotLeftToRefund(Refusal):
    """A quantity exceeds what was not refunded of the line, or the order has no such line."""

    code, field = "not_left_to_refund", "lines"


class ShippingRefundTooLarge(Refusal):
    code, field = "shipping_refund_too_large", "shipping"


@dataclass(frozen=True)
class Pieces:
    """Pieces of an order line to refund. `sent` selects pieces that were sent, or those that were not; None takes those
    that were not sent first."""

    line_id: int
    qty: int
    restock: bool = False
    sent: bool | None = None


@dataclass(frozen=True)
class Plan:
    """What a refund pays back: rows that are not stored yet, and how much of it is for the delivery."""

    lines: Sequence[RefundLine]
    shipping: Decimal

    @property
    def amount(self) -> Decimal:
        return sum((part.amount for part in self.lines), self.shipping)


def paid_for_line(order: Order, line: OrderLine) -> Decimal:
    """What the shopper paid for the line, with tax."""
    return line.line_total - line.discount + (ZERO if order.prices_include_tax else line.tax)


def paid_for_delivery(order: Order) -> Decimal:
    """What the shopper paid for the delivery, with tax: the order's tax that is no line's."""
    if order.prices_include_tax:
        return order.shipping
    return order.shipping + order.tax - sum((line.tax for line in order.lines.all()), ZERO)


def delivery_left(order: Order) -> Decimal:
    """What was paid for the delivery and was not refunded."""
    refunded = _valid(order).aggregate(sum=Sum("shipping"))["sum"]
    return paid_for_delivery(order) - (refunded or ZERO)


def rest_of_share(whole: Decimal, pieces: int, qty: int, before: Decimal, currency: str) -> Decimal:
    """What this many pieces of `qty` cost, less what was refunded `before`. So all pieces together cost the whole."""
    part = quantize(whole * pieces / qty, currency)
    return max(part - before.quantize(CENT), ZERO)


def plan_refund(order: Order, chosen: Collection[Pieces], shipping: Decimal) -> Plan:
    """What these pieces of a locked order come to. Raises NotLeftToRefund and ShippingRefundTooLarge."""
    left = delivery_left(order)
    if shipping > left:
        text = _("At most %(left)s of the delivery can still be refunded.") % {
            "left": format_money(left, order.currency)
        }
        raise ShippingRefundTooLarge(text if left else _("Nothing is left to refund of the delivery."))
    lines = {line.pk: line for line in order.lines.all()}
    parts: dict[int, RefundLine] = {}
    for pieces in chosen:
        if pieces.line_id not in lines:
            raise NotLeftToRefund(_("This order has no line with the id %(id)s.") % {"id": pieces.line_id})
        line = lines[pieces.line_id]
        part = parts.setdefault(line.pk, RefundLine(shop_id=order.shop_id, line=line, qty=0))
        _add(part, pieces)
    for part in parts.values():
        _price(order, part)
    return Plan(list(parts.values()), shipping)


def carry_out_plan(*, shop: Shop, order: Order, plan: Plan, refund: Refund, now: datetime) -> None:
    """Store the refund's lines, and do with the pieces what they say: they are restocked, or not sent any more."""
    for part in plan.lines:
        part.refund, line = refund, part.line
        line.refunded_qty += part.qty
        line.withdrawn_qty += part.withdrawn_qty
        line.closed_qty -= part.closed_qty
    RefundLine.objects.bulk_create(plan.lines)
    _save_lines(order, plan.lines)
    restocked = {part.line: part.restocked_qty for part in plan.lines if part.restocked_qty}
    if restocked:
        put_back_pieces(order, restocked, refund.reason, now)
    # After the stock, as a checkout locks both.
    for part in plan.lines:
        if part.line.gift_card is not None:
            withdraw_pieces(order=order, line=part.line, now=now)
    follow(order, now)
    record_updated(shop=shop, order=order, now=now)


def release_lines(*, shop: Shop, refund: Refund, now: datetime) -> None:
    """A refund of a locked order failed: its pieces can be refunded again, and those that had not been sent are left to
    send. What was restocked stays so, and is not restocked twice. Does nothing while another part of it stands."""
    whole = refund.part_of or refund
    family = Refund.objects.filter(Q(pk=whole.pk) | Q(part_of=whole), shop=shop)
    parts = list(whole.lines.select_related("line"))
    if not parts or refund.order_id is None or family.exclude(status=Refund.Status.FAILED).exists():
        return
    for part in parts:
        line = part.line
        line.refunded_qty -= part.qty
        line.withdrawn_qty = min(line.withdrawn_qty - part.withdrawn_qty, line.refunded_qty)
        line.closed_qty += part.closed_qty
    order = Order.objects.get(shop=shop, pk=refund.order_id)
    _save_lines(order, parts)
    follow(order, now)
    record_updated(shop=shop, order=order, now=now)


def follow(order: Order, now: datetime) -> None:
    """Bring the order's statuses up to its lines."""
    if order.status != Order.Status.CANCELLED:
        follow_lines(order, list(OrderLine.objects.filter(shop=order.shop_id, order=order)))
    order.updated_at = now
    order.save(update_fields=["status", "fulfilment_status", "updated_at"])


def _add(part: RefundLine, pieces: Pieces) -> None:
    """Add the pieces to what is refunded of their line."""
    line, sent = part.line, pieces.sent
    unsent_left = line.left + line.closed_qty - part.withdrawn_qty
    sent_left = line.qty - line.refunded_qty - part.qty - unsent_left
    most = unsent_left + sent_left if sent is None else sent_left if sent else unsent_left
    if pieces.qty > most:
        raise NotLeftToRefund(_too_many(line, sent, most))
    part.qty += pieces.qty
    part.withdrawn_qty += 0 if sent else min(pieces.qty, unsent_left)
    # Pieces that are left to send come first.
    part.closed_qty = max(part.withdrawn_qty - line.left, 0)
    if pieces.restock:
        # Put back already: pieces of a refund that failed, those that were closed, and those of a restocked order.
        closed = line.closed_qty - part.closed_qty
        spare = line.refunded_qty + part.qty + closed - line.restocked_qty - part.restocked_qty
        part.restocked_qty += min(pieces.qty, max(spare, 0))


def _price(order: Order, part: RefundLine) -> None:
    line, refunded = part.line, part.line.refunded_qty + part.qty
    done = RefundLine.objects.filter(shop=order.shop_id, line=line, refund__in=_valid(order).values("pk"))
    before = done.aggregate(amount=Sum("amount"), tax=Sum("tax"))
    part.amount = rest_of_share(
        paid_for_line(order, line), refunded, line.qty, before["amount"] or ZERO, order.currency
    )
    part.tax = rest_of_share(line.tax, refunded, line.qty, before["tax"] or ZERO, order.currency)


def _valid(order: Order) -> QuerySet[Refund]:
    """The order's refunds that did not fail, or not in all their parts."""
    alive = Refund.objects.filter(shop=order.shop_id, order=order).exclude(status=Refund.Status.FAILED)
    whole = alive.filter(part_of__isnull=False).values("part_of")
    return Refund.objects.filter(shop=order.shop_id, order=order).filter(Q(pk__in=alive.values("pk")) | Q(pk__in=whole))


def _save_lines(order: Order, parts: Sequence[RefundLine]) -> None:
    OrderLine.objects.bulk_update([part.line for part in parts], ["refunded_qty", "withdrawn_qty", "closed_qty"])


def _too_many(line: OrderLine, sent: bool | None, most: int) -> str:
    if sent is None:
        text = ngettext(
            "Of line %(id)s, %(name)s, %(most)s piece can still be refunded.",
            "Of line %(id)s, %(name)s, %(most)s pieces can still be refunded.",
            most,
        )
    elif sent:
        text = ngettext(
            "Of line %(id)s, %(name)s, %(most)s piece that were sent can still be refunded.",
            "Of line %(id)s, %(name)s, %(most)s pieces that were sent can still be refunded.",
            most,
        )
    else:
        text = ngettext(
            "Of line %(id)s, %(name)s, %(most)s piece that were not sent can still be refunded.",
            "Of line %(id)s, %(name)s, %(most)s pieces that were not sent can still be refunded.",
            most,
        )
    return text % {"id": line.pk, "name": line.name, "most": most or _("no")}

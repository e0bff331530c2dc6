"""Fulfils orders, completely or in parts, cancels fulfilments, and closes orders of which no more is sent.

The order's row is locked first, so the second of two concurrent calls finds a piece already fulfilled. Constraints of
the lines guarantee the same.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from storefront import audit
from storefront.kit.refusals import Refusal
from storefront.orders import jobs
from storefront.orders.actions import OrderNotOpen, lock_order, put_back_pieces, record_updated
from storefront.orders.models import Fulfilment, FulfilmentLine, Order, OrderLine
from storefront.orders.queries import order_record
from storefront.orders.sending import due_lines, follow_lines, waiting
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event


class NotLeftToFulfil(Refusal):
    """A quantity exceeds what is left of the line, or the order has no such line."""

    code, field = "not_left_to_fulfil", "lines"


class FulfilmentCancelled(Refusal):
    code = "fulfilment_cancelled"
    message = _lazy("This fulfilment was cancelled already.")


class NothingSent(Refusal):
    code = "nothing_sent"
    message = _lazy("Nothing of this order was sent. Cancel it instead.")


@dataclass(frozen=True)
class Tracking:
    """Tracking data of a parcel; empty without tracking."""

    carrier: str = ""
    tracking_number: str = ""
    tracking_url: str = ""


UNTRACKED = Tracking()


@transaction.atomic
def fulfil_order(
    *,
    shop: Shop,
    order: Order,
    pieces: Iterable[tuple[int, int]] | None = None,
    tracking: Tracking = UNTRACKED,
    now: datetime,
) -> Fulfilment:
    """Record a fulfilment. `pieces` holds pairs of a line's id and a quantity; without it, everything that is left to
    send (`sending.waiting`), except pre-orders whose date is still to come: to send these, `pieces` has to name them.

    The order is fulfilled once nothing is left (R-APP-43). The shopper gets an email. Raises OrderNotOpen,
    NotLeftToFulfil and NotSentYet.
    """
    order = lock_order(shop, order)
    if order.status != Order.Status.OPEN:
        raise OrderNotOpen
    before = _statuses(order)
    lines = {line.pk: line for line in OrderLine.objects.filter(shop=shop, order=order)}
    if pieces is None:
        chosen = {line.pk: line.left for line in due_lines(waiting(list(lines.values())), shop, now)}
    else:
        chosen = _chosen(lines, pieces)
    if not chosen:
        raise NotLeftToFulfil(_("Nothing is left to fulfil."))
    fulfilment = Fulfilment.objects.create(shop=shop, order=order, created_at=now, **asdict(tracking))
    FulfilmentLine.objects.bulk_create(
        FulfilmentLine(shop=shop, fulfilment=fulfilment, line=lines[id], qty=qty) for id, qty in chosen.items()
    )
    for id, qty in chosen.items():
        lines[id].fulfilled_qty += qty
    OrderLine.objects.bulk_update([lines[id] for id in chosen], ["fulfilled_qty"])
    _save_statuses(order, lines, now)
    if order.payment_status == Order.PaymentStatus.PENDING:
        # Money may be held until now; the payments' sweep captures it.
        order.payments.filter(status="authorised").update(due_at=now)
    record_event(shop=shop, topic="order.fulfilled", data=order_record(order), now=now)
    after = _statuses(order) | {"pieces": chosen} | asdict(tracking)
    audit.record(shop=shop, action="order.fulfilled", object=order, before=before, after=after, now=now)
    jobs.send_fulfilment_mail.enqueue(fulfilment.shop_id, fulfilment.pk)
    return fulfilment


@transaction.atomic
def cancel_fulfilment(*, shop: Shop, order: Order, fulfilment_id: int, now: datetime) -> Fulfilment:
    """Take back a fulfilment that did not happen: its pieces are left to fulfil again, except those that were refunded
    since. The shopper gets no email. Raises FulfilmentCancelled; Fulfilment.DoesNotExist if the order has no such
    fulfilment."""
    order = lock_order(shop, order)
    fulfilment = Fulfilment.objects.prefetch_related("lines").get(shop=shop, order=order, pk=fulfilment_id)
    if fulfilment.cancelled_at is not None:
        raise FulfilmentCancelled
    before = _statuses(order)
    lines = {line.pk: line for line in OrderLine.objects.filter(shop=shop, order=order)}
    for part in fulfilment.lines.all():
        line = lines[part.line_id]
        line.fulfilled_qty -= part.qty
        line.withdrawn_qty = max(line.withdrawn_qty, line.refunded_qty - line.fulfilled_qty)
    OrderLine.objects.bulk_update(lines.values(), ["fulfilled_qty", "withdrawn_qty"])
    fulfilment.cancelled_at = now
    fulfilment.save(update_fields=["cancelled_at"])
    _save_statuses(order, lines, now)
    after = _statuses(order) | {"fulfilment": fulfilment.pk}
    action = "order.fulfilment_cancelled"
    audit.record(shop=shop, action=action, object=order, before=before, after=after, now=now)
    record_updated(shop=shop, order=order, now=now)
    return fulfilment


@transaction.atomic
def close_order(*, shop: Shop, order: Order, now: datetime) -> None:
    """Close an order of which a part was sent: the remaining pieces return to stock, and the order is fulfilled.
    Refunds nothing, and sends no email. Raises OrderNotOpen and NothingSent."""
    order = lock_order(shop, order)
    lines = {line.pk: line for line in OrderLine.objects.filter(shop=shop, order=order)}
    left = waiting(list(lines.values()))
    if order.status != Order.Status.OPEN or not left:
        raise OrderNotOpen
    if not any(line.fulfilled_qty for line in lines.values()):
        raise NothingSent
    before, closed = _statuses(order), {line.pk: line.left for line in left}
    # Pieces of a failed refund were already returned to stock.
    put_back = {line: max(line.left - max(line.restocked_qty - line.refunded_qty, 0), 0) for line in left}
    for line in left:
        line.closed_qty += line.left
    OrderLine.objects.bulk_update(left, ["closed_qty"])
    put_back_pieces(order, put_back, "Not sent", now)
    _save_statuses(order, lines, now)
    after = _statuses(order) | {"pieces": closed}
    audit.record(shop=shop, action="order.closed", object=order, before=before, after=after, now=now)
    record_updated(shop=shop, order=order, now=now)


def _save_statuses(order: Order, lines: dict[int, OrderLine], now: datetime) -> None:
    follow_lines(order, list(lines.values()))
    order.updated_at = now
    order.save(update_fields=["status", "fulfilment_status", "updated_at"])


def _statuses(order: Order) -> dict[str, str]:
    return {"status": order.status, "fulfilment_status": order.fulfilment_status}


def _chosen(lines: dict[int, OrderLine], pieces: Iterable[tuple[int, int]]) -> dict[int, int]:
    chosen: Counter[int] = Counter()
    for id, qty in pieces:
        chosen[id] += qty
    for id, qty in chosen.items():
        line = lines.get(id)
        if line is None:
            raise NotLeftToFulfil(_("This order has no line with the id %(id)s.") % {"id": id})
        if qty > line.left:
            raise NotLeftToFulfil(_too_many(line))
    return dict(chosen)


def _too_many(line: OrderLine) -> str:
    if not line.left:
        return _("Of line %(id)s, %(name)s, none is left to fulfil.") % {"id": line.pk, "name": line.name}
    text = ngettext(
        "Of line %(id)s, %(name)s, %(left)s is left to fulfil.",
        "Of line %(id)s, %(name)s, %(left)s are left to fulfil.",
        line.left,
    )
    return text % {"id": line.pk, "name": line.name, "left": line.left}

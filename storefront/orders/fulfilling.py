"""Fulfilling orders, fully or partially."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from storefront.kit.refusals import Refusal
from storefront.orders import jobs
from storefront.orders.actions import OrderNotOpen, lock_order
from storefront.orders.models import Fulfilment, FulfilmentLine, Order, OrderLine
from storefront.orders.queries import order_record
from storefront.shops import audit
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event


class NotLeftToFulfil(Refusal):
    """A quantity exceeds what is left of the line, or the order has no such line."""

    code, field = "not_left_to_fulfil", "lines"


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
    """Record a fulfilment. `pieces` holds pairs of a line's id and a quantity; without it, everything that is left.

    The order is fulfilled once nothing is left. The shopper gets an email. Raises OrderNotOpen and NotLeftToFulfil.
    """
    order = lock_order(shop, order)
    if order.status != Order.Status.OPEN:
        raise OrderNotOpen
    before = {"status": order.status}
    lines = {line.pk: line for line in OrderLine.objects.filter(shop=shop, order=order)}
    chosen = _left(lines) if pieces is None else _chosen(lines, pieces)
    fulfilment = Fulfilment.objects.create(shop=shop, order=order, created_at=now, **asdict(tracking))
    FulfilmentLine.objects.bulk_create(
        FulfilmentLine(shop=shop, fulfilment=fulfilment, line=lines[id], qty=qty) for id, qty in chosen.items()
    )
    for id, qty in chosen.items():
        lines[id].fulfilled_qty += qty
    OrderLine.objects.bulk_update([lines[id] for id in chosen], ["fulfilled_qty"])
    if not _left(lines):
        order.status = Order.Status.FULFILLED
    order.updated_at = now
    order.save(update_fields=["status", "updated_at"])
    if order.payment_status == Order.PaymentStatus.PENDING:
        # Money may be held until now; the payments' sweep captures it.
        order.payments.filter(status="authorised").update(due_at=now)
    record_event(shop=shop, topic="order.fulfilled", data=order_record(order), now=now)
    after = {"status": order.status, "pieces": chosen} | asdict(tracking)
    audit.record(shop=shop, action="order.fulfilled", object=order, before=before, after=after, now=now)
    jobs.send_fulfilment_mail.enqueue(fulfilment.pk)
    return fulfilment


def _left(lines: dict[int, OrderLine]) -> dict[int, int]:
    return {id: line.left for id, line in lines.items() if line.left}


def _chosen(lines: dict[int, OrderLine], pieces: Iterable[tuple[int, int]]) -> dict[int, int]:
    chosen: Counter[int] = Counter()
    for id, qty in pieces:
        chosen[id] += qty
    for id, qty in chosen.items():
        line = lines.get(id)
        if line is None:
            raise NotLeftToFulfil(f"This order has no line with the id {id}.")
        if qty > line.left:
            raise NotLeftToFulfil(f"Of line {id}, {line.name}, {line.left or 'none'} {_is(line.left)} left to fulfil.")
    return dict(chosen)


def _is(count: int) -> str:
    return "is" if count < 2 else "are"

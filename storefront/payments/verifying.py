"""Compares payments with their log and their refunds, and orders and their lines with what was refunded of them."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from storefront.kit.deviations import Deviation, differing
from storefront.kit.money import ZERO
from storefront.orders.models import Order, OrderLine
from storefront.payments.models import Payment, PaymentEntry, Refund, RefundLine
from storefront.shops.models import Shop

BATCH_ROWS = 2000


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's payments that their entries do not explain."""
    # News are noted without a lock, so with any state.
    changes = PaymentEntry.objects.filter(payment=OuterRef("pk")).exclude(kind=PaymentEntry.Kind.NEWS)
    last = changes.order_by("-id").values("to_state")[:1]
    payments: Any = Payment.objects.filter(shop=shop).order_by("pk")
    explained = payments.annotate(logged=Sum("entries__amount"), logged_state=Subquery(last))
    explained = explained.prefetch_related("refunds")
    for payment in explained.iterator(chunk_size=BATCH_ROWS):
        has = payment.captured - payment.returned - payment.disputed
        yield from differing("payment log", f"payment {payment.public_id}", has, payment.logged or ZERO)
        yield from _refunds(payment)
        yield from differing("payment state", f"payment {payment.public_id}", payment.state, payment.logged_state)


def _refunds(payment: Payment) -> Iterator[Deviation]:
    """Sums of the payment that are not those of its refunds."""
    name, rows = f"payment {payment.public_id}", payment.refunds.all()
    valid = sum((row.amount for row in rows if row.status != Refund.Status.FAILED), ZERO)
    yield from differing("given back", name, payment.returned, _done(rows))
    yield from differing("being given back", name, payment.refunded, min(valid, payment.amount))


def refund_deviations(shop: Shop) -> Iterator[Deviation]:
    """Order lines whose refunded pieces are not those of refunds that stand, and orders whose refunded sum is not that
    of their refunds."""
    yield from _refunded_pieces(shop)
    orders = Order.objects.filter(shop=shop).filter(Q(refunds__isnull=False) | Q(refunded__gt=ZERO)).distinct()
    for order in orders.prefetch_related("refunds").order_by("pk").iterator(chunk_size=BATCH_ROWS):
        done = min(_done(order.refunds.all()), order.total)
        yield from differing("refunded", f"order {order.number}", order.refunded, done)


def _done(refunds: Iterable[Refund]) -> Decimal:
    return sum((row.amount for row in refunds if row.status == Refund.Status.DONE), ZERO)


def _refunded_pieces(shop: Shop) -> Iterator[Deviation]:
    alive = Refund.objects.filter(shop=shop).exclude(status=Refund.Status.FAILED)
    whole = alive.filter(part_of__isnull=False).values("part_of")
    stands = Q(refund__in=alive.values("pk")) | Q(refund__in=whole)
    refunded = RefundLine.objects.filter(stands, line=OuterRef("pk")).order_by()
    sums = refunded.values("line").annotate(sum=Sum("qty")).values("sum")
    lines: Any = OrderLine.objects.filter(shop=shop).annotate(by_refunds=Coalesce(Subquery(sums), 0)).order_by("pk")
    for line in lines.exclude(refunded_qty=F("by_refunds")).iterator(chunk_size=BATCH_ROWS):
        yield from differing("pieces refunded", f"order line {line.pk}", line.refunded_qty, line.by_refunds)

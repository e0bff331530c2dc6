"""Compares payments with their log, and order lines with what was refunded of them."""

from collections.abc import Iterator
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from storefront.kit.deviations import Deviation, differing
from storefront.kit.money import ZERO
from storefront.orders.models import OrderLine
from storefront.payments import card_payments
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
    for payment in explained.iterator(chunk_size=BATCH_ROWS):
        has = payment.captured - payment.returned - payment.disputed
        yield from differing("payment log", f"payment {payment.public_id}", has, payment.logged or ZERO)
        yield from differing("payment state", f"payment {payment.public_id}", payment.state, payment.logged_state)
    yield from card_payments.deviations(shop)
    yield from _refunded_pieces(shop)


def _refunded_pieces(shop: Shop) -> Iterator[Deviation]:
    """Order lines whose refunded pieces are not those of refunds that stand."""
    alive = Refund.objects.filter(shop=shop).exclude(status=Refund.Status.FAILED)
    whole = alive.filter(part_of__isnull=False).values("part_of")
    stands = Q(refund__in=alive.values("pk")) | Q(refund__in=whole)
    refunded = RefundLine.objects.filter(stands, line=OuterRef("pk")).order_by()
    sums = refunded.values("line").annotate(sum=Sum("qty")).values("sum")
    lines: Any = OrderLine.objects.filter(shop=shop).annotate(by_refunds=Coalesce(Subquery(sums), 0)).order_by("pk")
    for line in lines.exclude(refunded_qty=F("by_refunds")).iterator(chunk_size=BATCH_ROWS):
        yield from differing("pieces refunded", f"order line {line.pk}", line.refunded_qty, line.by_refunds)

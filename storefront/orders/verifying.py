"""Compares the totals and statuses of orders with their lines, and these with their fulfilments."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from storefront.kit.deviations import Deviation, differing
from storefront.kit.money import ZERO
from storefront.orders.models import FulfilmentLine, Order, OrderLine
from storefront.orders.sending import fulfilment_status
from storefront.shops.models import Shop

BATCH_ROWS = 2000


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's orders whose sums differ from those of their lines."""
    orders: Any = (
        Order.objects.filter(shop=shop)
        .order_by("pk")
        .annotate(of_lines=Sum("lines__line_total"), off_lines=Sum("lines__discount"))
    )
    for order in orders.prefetch_related("lines").iterator(chunk_size=BATCH_ROWS):
        name = f"order {order.number}"
        yield from differing("subtotal of the lines", name, order.subtotal, order.of_lines or ZERO)
        yield from differing("total of the sums", name, order.total, _total(order))
        if order.discount_lines:
            yield from differing("discounts", name, order.discount, _sum(order.discount_lines))
        yield from differing("tax by rate", name, order.tax, _sum(order.tax_lines))
        yield from differing("discounts of the lines", name, order.discount, order.off_lines or ZERO)
        lines = list(order.lines.all())
        for line in lines:
            if line.tax_lines:
                yield from differing("tax by rate", f"{name}, line {line.pk}", line.tax, _sum(line.tax_lines))
        # In earlier releases, payment did not fulfil an order of only files and gift cards.
        if order.status != Order.Status.CANCELLED and any(line.needs_sending for line in lines):
            status = fulfilment_status(order, lines)
            yield from differing("fulfilment status", name, order.fulfilment_status, status.value)
    yield from _pieces(shop)


def _pieces(shop: Shop) -> Iterator[Deviation]:
    """Lines whose pieces differ from those of their fulfilments that were not cancelled."""
    valid = FulfilmentLine.objects.filter(line=OuterRef("pk"), fulfilment__cancelled_at=None)
    sent = valid.order_by().values("line").annotate(sum=Sum("qty")).values("sum")
    lines: Any = OrderLine.objects.filter(shop=shop).annotate(sent=Coalesce(Subquery(sent), 0)).order_by("pk")
    for line in lines.exclude(fulfilled_qty=F("sent")).iterator(chunk_size=BATCH_ROWS):
        yield from differing("pieces fulfilled", f"order line {line.pk}", line.fulfilled_qty, line.sent)


def _total(order: Order) -> Decimal:
    added = ZERO if order.prices_include_tax else order.tax
    return order.subtotal - order.discount + order.shipping + added


def _sum(lines: list[dict[str, str]]) -> Decimal:
    return sum((Decimal(line["amount"]) for line in lines), ZERO)

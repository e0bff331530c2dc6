"""Sales figures of a shop: orders in its currency that were not cancelled, by the time when they were placed."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import F, Sum

from storefront.catalogue.models import Product
from storefront.kit.money import ZERO, quantize
from storefront.kit.money_field import from_hundredths
from storefront.orders.models import Order, OrderLine
from storefront.orders.periods import Period, Span
from storefront.shops.models import Shop

BEST_SELLERS = 5

# The index `order_figures` has all columns of orders that this reads.
_STATEMENT = """
    WITH spans (place, since, until) AS (VALUES {spans})
    SELECT place, COUNT(o.id), COALESCE(SUM(o.total), 0)
    FROM spans LEFT JOIN orders_order o
      ON o.shop_id = %s AND o.placed_at >= since AND o.placed_at < until AND o.currency = %s AND o.status <> 'cancelled'
    GROUP BY place
"""


@dataclass(frozen=True)
class Sold:
    """Number and total of orders."""

    count: int
    total: Decimal
    currency: str

    @property
    def average(self) -> Decimal:
        return quantize(self.total / self.count, self.currency) if self.count else ZERO


def sold_in(shop: Shop, spans: list[Span]) -> list[Sold]:
    """The sales in each of the spans, in one query."""
    adapt = connection.ops.adapt_datetimefield_value
    values: list[Any] = []
    for place, (since, until) in enumerate(spans):
        values += [place, adapt(since), adapt(until)]
    statement = _STATEMENT.format(spans=", ".join(["(%s, %s, %s)"] * len(spans)))
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, shop.pk, shop.currency])
        found = {place: Sold(count, from_hundredths(total), shop.currency) for place, count, total in cursor.fetchall()}
    return [found[place] for place in range(len(spans))]


def together(parts: list[Sold]) -> Sold:
    return Sold(sum(each.count for each in parts), sum((each.total for each in parts), ZERO), parts[0].currency)


def best_sellers(shop: Shop, period: Period) -> list[dict[str, Any]]:
    """The products with most pieces sold: id, name, pieces and their amount after discounts. Leaves out deleted
    products."""
    since, until = period.span
    placed = Order.objects.filter(shop=shop, currency=shop.currency, placed_at__gte=since, placed_at__lt=until)
    lines = OrderLine.objects.filter(order__in=placed.exclude(status=Order.Status.CANCELLED), product__isnull=False)
    sums = lines.values("product_id").annotate(pieces=Sum("qty"), total=Sum(F("line_total") - F("discount")))
    best = list(sums.order_by("-pieces", "-total", "product_id")[:BEST_SELLERS])
    names = dict(
        Product.objects.filter(shop=shop, pk__in=[row["product_id"] for row in best]).values_list("pk", "name")
    )
    return [
        {
            "id": row["product_id"],
            "name": names[row["product_id"]],
            "pieces": row["pieces"],
            "total": row["total"],
        }
        for row in best
        if row["product_id"] in names
    ]


def unpaid(shop: Shop) -> Any:
    """Orders that wait for their money."""
    return Order.objects.filter(shop=shop, payment_status=Order.PaymentStatus.PENDING).exclude(
        status=Order.Status.CANCELLED
    )


def change_text(now: Decimal | int, before: Decimal | int) -> str:
    """The change of a figure since the period before, such as `+12%`; empty without an earlier figure."""
    if not before:
        return ""
    percent = round((Decimal(now) - Decimal(before)) * 100 / Decimal(before))
    return f"{percent:+d}%".replace("-", "−") if percent else "±0%"

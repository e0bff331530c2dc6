"""Sales figures of a shop in a period: orders in its currency that were not cancelled, by the time when they were
placed. Periods are in days of the shop's time zone."""

import itertools
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import F, Sum
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.models import Product
from storefront.kit.format import format_date, format_month_day, format_percent
from storefront.kit.money import ZERO, quantize
from storefront.kit.money_field import from_hundredths
from storefront.kit.text import Text
from storefront.orders.models import Order, OrderLine
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
MAX_DAYS = 366
NAMES = {
    "today": _lazy("Today"),
    "7": _lazy("7 days"),
    "30": _lazy("30 days"),
    "month": _lazy("This month"),
    "custom": _lazy("Other dates"),
}
USUAL = "30"
WRONG_DATES = format_lazy(_lazy("Choose a first and a last day, at most {days} days apart."), days=MAX_DAYS)

# Start and end; the end is excluded.
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Period:
    """A period from the first to the last day, both included. `problem` is the error in the requested dates."""

    name: str
    first: date
    last: date
    timezone: str
    problem: Text = ""

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> "Period":
        """The same number of days directly before."""
        length = timedelta(days=self.days)
        return Period(self.name, self.first - length, self.last - length, self.timezone)

    @property
    def span(self) -> Span:
        return self._start_of(self.first), self._start_of(self.last + timedelta(days=1))

    @property
    def spans(self) -> list[Span]:
        """The days, or the hours of a single day. A day when the clock changes has 23 or 25 hours."""
        if self.days > 1:
            starts = [self._start_of(self.first + timedelta(days=count)) for count in range(self.days + 1)]
        else:
            since, until = self.span
            starts = [since + timedelta(hours=count) for count in range(int((until - since) / timedelta(hours=1)) + 1)]
        return list(itertools.pairwise(starts))

    @property
    def labels(self) -> list[str]:
        """The name of each of `spans`."""
        zone = ZoneInfo(self.timezone)
        local = [since.astimezone(zone) for since, _until in self.spans]
        return [format_month_day(each) if self.days > 1 else f"{each:%H:%M}" for each in local]

    @property
    def text(self) -> str:
        first, last = format_date(self.first), format_date(self.last)
        return first if first == last else _("%(first)s to %(last)s") % {"first": first, "last": last}

    def _start_of(self, day: date) -> datetime:
        return datetime.combine(day, time(), ZoneInfo(self.timezone)).astimezone(UTC)


def chosen_period(shop: Shop, query: dict[str, str], now: datetime) -> Period:
    """The period in the start page's URL: `period`, and for custom dates `from` and `to`."""
    today, name = shop.local_time(now).date(), query.get("period", USUAL)
    if name == "custom":
        first, last = _day(query.get("from", "")), _day(query.get("to", ""))
        if first and last and first <= last and (last - first).days < MAX_DAYS:
            return Period(name, first, last, shop.timezone)
    firsts = {"today": today, "7": today - timedelta(days=6), "month": today.replace(day=1)}
    usual = today - timedelta(days=29)
    is_known = name in NAMES and name != "custom"
    problem = WRONG_DATES if name == "custom" else ""
    return Period(name if is_known else USUAL, firsts.get(name, usual), today, shop.timezone, problem)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # Years that every time zone and database supports.
    return day if 2000 <= day.year <= 9000 else None


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
    sign = "+" if percent > 0 else "−" if percent < 0 else "±"
    return f"{sign}{format_percent(Decimal(abs(percent)))}"

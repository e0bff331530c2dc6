"""The people who bought in a shop, read from its orders: customers, and guests by their email address.

A customer has the orders of the account and, where nobody has proved the address yet, guest orders under it: one person
for whoever looks at the list. An address is compared in lowercase, as everywhere. A page of guests is found through the
index `order_email`; the sums are read for its rows alone.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Lower

from storefront.customers.models import Customer
from storefront.kit.money import ZERO
from storefront.orders.models import Order
from storefront.orders.words import find_orders
from storefront.shops.models import Shop

NOT_CANCELLED = ~Q(status=Order.Status.CANCELLED)
PAID = NOT_CANCELLED & ~Q(payment_status=Order.PaymentStatus.PENDING)
BY_LAST, BY_SUM = "last", "sum"


@dataclass
class Bought:
    """Number of orders that were not cancelled, what was paid for them less refunds, by currency, and the time of the
    last order."""

    count: int = 0
    sums: dict[str, Decimal] = field(default_factory=dict)
    last: datetime | None = None

    def add(self, row: dict[str, Any]) -> None:
        self.count += row["count"]
        if spent := (row["paid"] or ZERO) - (row["given_back"] or ZERO):
            self.sums[row["currency"]] = self.sums.get(row["currency"], ZERO) + spent
        self.last = max(filter(None, [self.last, row["last"]]), default=None)


@dataclass(frozen=True)
class Guest:
    """An email address without an account; the name is that of the newest order."""

    email: str
    name: str
    bought: Bought


def bought_by(shop: Shop, customers: Iterable[Customer]) -> dict[int, Bought]:
    """What each of these customers bought, by the customer's id, in two queries."""
    ids = {customer.email: customer.pk for customer in customers}
    found: dict[int, Bought] = defaultdict(Bought)
    for row in _sums(Order.objects.filter(shop=shop, customer__in=ids.values()), "customer_id"):
        found[row["customer_id"]].add(row)
    for email, bought in _bought_by_guests(shop, ids).items():
        for currency, spent in bought.sums.items():
            own = found[ids[email]].sums
            own[currency] = own.get(currency, ZERO) + spent
        found[ids[email]].count += bought.count
        found[ids[email]].last = max(filter(None, [found[ids[email]].last, bought.last]), default=None)
    return found


def guests_page(shop: Shop, *, search: str, sort: str, start: int, count: int) -> list[Guest]:
    """`count` guests from this place on: those who bought last first, or those who paid most in the shop's currency.
    A search finds them by their orders (`words.find_orders`)."""
    orders = _guest_orders(shop).exclude(address="")
    if search.strip():
        orders = orders.filter(pk__in=find_orders(shop, search).keys)
    has_account = Customer.objects.filter(shop=shop, email=OuterRef("address"))
    rows = orders.filter(~Exists(has_account)).values("address").annotate(last=Max("placed_at"), newest=Max("pk"))
    if sort == BY_SUM:
        counted = PAID & Q(currency=shop.currency)
        paid = rows.annotate(paid=Sum("total", filter=counted, default=ZERO))
        rows = paid.annotate(spent=F("paid") - Sum("refunded", filter=counted, default=ZERO)).order_by("-spent")
    else:
        rows = rows.order_by("-last")
    shown = list(rows.order_by(*rows.query.order_by, "address")[start : start + count])
    billed = Order.objects.filter(shop=shop, pk__in=[row["newest"] for row in shown])
    names = {pk: (address or {}).get("name", "") for pk, address in billed.values_list("pk", "billing_address")}
    bought = _bought_by_guests(shop, [row["address"] for row in shown])
    return [Guest(row["address"], names[row["newest"]], bought[row["address"]]) for row in shown]


def bought_in(orders: QuerySet[Order]) -> Bought:
    """What these orders, which are one person's, come to."""
    total = Bought()
    for row in _sums(orders, "shop_id"):
        total.add(row)
    return total


def _guest_orders(shop: Shop) -> Any:
    return Order.objects.filter(shop=shop, customer=None).annotate(address=Lower("email"))


def _bought_by_guests(shop: Shop, emails: Collection[str]) -> dict[str, Bought]:
    found: dict[str, Bought] = defaultdict(Bought)
    for row in _sums(_guest_orders(shop).filter(address__in=list(emails)), "address"):
        found[row["address"]].add(row)
    return found


def _sums(orders: QuerySet[Order], whose: str) -> Iterable[dict[str, Any]]:
    return (
        orders.order_by()
        .values(whose, "currency")
        .annotate(
            count=Count("pk", filter=NOT_CANCELLED),
            paid=Sum("total", filter=PAID),
            given_back=Sum("refunded", filter=PAID),
            last=Max("placed_at"),
        )
    )

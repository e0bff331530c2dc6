"""The people who bought in a shop, read from its orders: customers, and guests by their email address.

A customer has the orders of the account and, where nobody has proved the address yet, guest orders under it: one person
for whoever looks at the list. An address is compared in lowercase, as everywhere. Sums are read for the rows of a page
alone, through the index `order_email`.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Lower

from storefront.customers.models import Customer
from storefront.kit.money import ZERO
from storefront.orders.models import Order
from storefront.orders.words import find_orders
from storefront.shops.models import Shop

NOT_CANCELLED = ~Q(status=Order.Status.CANCELLED)
# A place in the list: when an order was placed, and its id.
Place = tuple[datetime, int]
READ_AT_ONCE = 300
MAX_READS = 10
PAID = NOT_CANCELLED & ~Q(payment_status=Order.PaymentStatus.PENDING)


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


def guests_page(shop: Shop, *, search: str, after: Place | None, count: int) -> tuple[list[Guest], Place | None]:
    """Up to `count` guests behind this place, those who bought last first, and the place of the last one; None at the
    end. A search finds them by their orders (`words.find_orders`).

    A guest stands at the newest order. So the orders are read from the newest on, `READ_AT_ONCE` at a time and at most
    `MAX_READS` times: a page that is not full by then is short, and the next one goes on behind it.
    """
    orders = Order.objects.filter(shop=shop)
    if search.strip():
        orders = orders.filter(pk__in=find_orders(shop, search).keys)
    found: dict[str, int] = {}
    # Guests' addresses that were looked at. Older orders of theirs are not compared again: one can have thousands.
    known: set[str] = set()
    for _time in range(MAX_READS):
        read = _orders_behind(orders, after)
        new = [order for order in read if order["address"] not in known]
        known.update(order["address"] for order in new if order["customer_id"] is None)
        for order in _newest_of_guests(shop, orders, new):
            if len(found) == count:
                return _with_sums(shop, found), after
            found.setdefault(order["address"], order["pk"])
            after = order["placed_at"], order["pk"]
        if len(read) < READ_AT_ONCE:
            return _with_sums(shop, found), None
        after = read[-1]["placed_at"], read[-1]["pk"]
    return _with_sums(shop, found), after


def _orders_behind(orders: Any, after: Place | None) -> list[dict[str, Any]]:
    if after:
        moment, pk = after
        orders = orders.filter(Q(placed_at__lt=moment) | Q(pk__lt=pk), placed_at__lte=moment)
    newest = orders.order_by("-placed_at", "-pk").annotate(address=Lower("email"))
    return list(newest.values("pk", "placed_at", "customer_id", "address")[:READ_AT_ONCE])


def _newest_of_guests(shop: Shop, orders: Any, read: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The orders among these that are a guest's newest."""
    addresses = {order["address"] for order in read if order["customer_id"] is None} - {""}
    addresses -= set(Customer.objects.filter(shop=shop, email__in=addresses).values_list("email", flat=True))
    own = _of_guests(orders).filter(address__in=addresses).order_by()
    last = dict(own.values("address").annotate(last=Max("placed_at")).values_list("address", "last"))
    return [
        order for order in read if order["customer_id"] is None and last.get(order["address"]) == order["placed_at"]
    ]


def _with_sums(shop: Shop, found: dict[str, int]) -> list[Guest]:
    """The guests with these addresses, each with the id of the newest order."""
    billed = Order.objects.filter(shop=shop, pk__in=found.values()).values_list("pk", "billing_address")
    names = {pk: (address or {}).get("name", "") for pk, address in billed}
    bought = _bought_by_guests(shop, found)
    return [Guest(email, names[pk], bought[email]) for email, pk in found.items()]


def bought_in(orders: QuerySet[Order]) -> Bought:
    """What these orders, which are one person's, come to."""
    total = Bought()
    for row in _sums(orders, "shop_id"):
        total.add(row)
    return total


def _of_guests(orders: Any) -> Any:
    """The orders among these without an account, with their `address`. The account is an expression, so that SQLite
    finds them by the address and does not read all orders of guests."""
    return orders.annotate(address=Lower("email"), account=Coalesce("customer_id", 0)).filter(account=0)


def _bought_by_guests(shop: Shop, emails: Iterable[str]) -> dict[str, Bought]:
    found: dict[str, Bought] = defaultdict(Bought)
    for row in _sums(_of_guests(Order.objects.filter(shop=shop)).filter(address__in=list(emails)), "address"):
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

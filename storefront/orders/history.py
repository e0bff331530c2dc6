"""A customer's own orders: their history, and guest orders that turn out to be theirs."""

from datetime import datetime

from django.db.models import QuerySet, Value
from django.db.models.functions import Lower

from storefront.customers.models import Customer
from storefront.orders.models import Order
from storefront.shops.models import Shop


def orders_of(shop: Shop, customer: Customer) -> QuerySet[Order]:
    """The customer's orders, newest first."""
    return Order.objects.filter(shop=shop, customer=customer).order_by("-placed_at", "-pk")


def order_of(shop: Shop, customer: Customer, number: int) -> Order | None:
    """The customer's order with this number, with its lines, payments and fulfilments."""
    found = orders_of(shop, customer).filter(number=number)
    return found.prefetch_related("lines", "payments", "fulfilments__lines__line").first()


def attach_guest_orders(*, shop: Shop, customer: Customer, now: datetime) -> int:
    """Give the customer the orders that were placed without an account under their e-mail address; how many.

    Only for an address that the customer has just proven to be theirs: it opens what somebody bought, and where they
    live.
    """
    guests = Order.objects.alias(address=Lower("email")).filter(shop=shop, customer=None)
    return guests.filter(address=Lower(Value(customer.email))).update(customer=customer, updated_at=now)

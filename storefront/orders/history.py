"""A customer's orders: their history, and guest orders under their email address."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet, Value
from django.db.models.functions import Lower

from storefront.customers.models import Customer
from storefront.orders.actions import lock_counter
from storefront.orders.models import Order
from storefront.orders.queries import shown_to_shoppers
from storefront.shops.models import Shop


def orders_of(shop: Shop, customer: Customer) -> QuerySet[Order]:
    """The customer's orders, newest first."""
    return Order.objects.filter(shop=shop, customer=customer).order_by("-placed_at", "-pk")


def order_of(shop: Shop, customer: Customer, number: int) -> Order | None:
    """The customer's order with this number, with its lines, payments and fulfilments."""
    found = orders_of(shop, customer).filter(number=number)
    return found.prefetch_related(*shown_to_shoppers()).first()


def order_ids_of(shop: Shop, *, email: str, customer: Customer | None = None) -> list[int]:
    """The ids of all orders with this email address, and of all orders of this customer."""
    named = Order.objects.alias(address=Lower("email")).filter(shop=shop, address=Lower(Value(email.strip())))
    found = set(named.values_list("pk", flat=True))
    if customer:
        found |= set(orders_of(shop, customer).values_list("pk", flat=True))
    return sorted(found)


@transaction.atomic
def attach_guest_orders(*, shop: Shop, customer: Customer, now: datetime) -> int:
    """Assign to the customer the guest orders with their email address. Returns how many.

    Call only after the customer has proved ownership of the address, because orders show what somebody bought and where
    they live. Later orders join the account when they are placed (`actions.create_order`). Waits for orders that are
    being placed at this moment, which may not have seen the account yet.
    """
    lock_counter(shop)
    guests = Order.objects.alias(address=Lower("email")).filter(shop=shop, customer=None)
    return guests.filter(address=Lower(Value(customer.email))).update(customer=customer, updated_at=now)

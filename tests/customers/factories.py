"""Customers, with or without a password, and their addresses."""

from typing import Any

from django.contrib.auth.hashers import make_password

from storefront.customers import actions
from storefront.customers.models import Address, Customer
from storefront.shops.models import Shop
from storefront.webhooks.models import Event
from tests.addresses import ADDRESS
from tests.shops.factories import NOW

PASSWORD = "harbour light 7"


def make_customer(shop: Shop, email: str = "ada@example.com", *, password: str = PASSWORD, **given: Any) -> Customer:
    """A customer who can sign in, unless `password` is empty."""
    given = {"created_at": NOW, "updated_at": NOW, "password": make_password(password) if password else ""} | given
    return Customer.objects.create(shop=shop, email=email, **given)


def add_address(customer: Customer, **given: Any) -> Address:
    fields = ADDRESS | given
    return actions.save_address(shop=customer.shop, customer=customer, address_id=None, now=NOW, fields=fields)


def events(shop: Shop) -> list[tuple[str, dict]]:
    """Topic and data of the events about this shop's customers, in order."""
    found = Event.objects.filter(shop=shop, topic__startswith="customer.").order_by("created_at", "pk")
    return [(event.topic, event.data) for event in found]

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from storefront.customers.models import Address, Customer
from storefront.kit.clock import timestamp
from storefront.kit.money import ZERO, to_wire
from storefront.shops.models import Shop

ADDRESS_FIELDS = ("name", "company", "line1", "line2", "postal_code", "city", "region", "country", "phone")


@dataclass(frozen=True, slots=True)
class Sales:
    """What a customer has bought: orders that were not cancelled, and the money of those that are paid, less what
    they were given back."""

    count: int = 0
    spent: Decimal = ZERO


NO_SALES = Sales()


def customer_by_id(shop: Shop, customer_id: int | None) -> Customer | None:
    if customer_id is None:
        return None
    return Customer.objects.select_related("group").filter(shop=shop, pk=customer_id).first()


def customer_by_email(shop: Shop, email: str) -> Customer | None:
    """The customer with this e-mail address, in whatever case it is written."""
    return Customer.objects.filter(shop=shop, email=normal_email(email)).first()


def normal_email(email: str) -> str:
    """The address as it is kept and compared: without the case that no mail server tells apart."""
    return email.strip().lower()


def customer_page(shop: Shop, *, email: str | None, start: int, count: int) -> tuple[list[dict[str, Any]], int]:
    """So many customers from this place on, newest first, as records without addresses; and how many there are."""
    found = Customer.objects.filter(shop=shop)
    if email is not None:
        found = found.filter(email=normal_email(email))
    # What stands before a deep page is skipped in the index alone; only the page's own rows are read.
    ids = list(found.order_by("-pk").values_list("pk", flat=True)[start : start + count])
    rows = list(Customer.objects.filter(shop=shop, pk__in=ids).select_related("group").order_by("-pk"))
    sales = sales_of(shop, rows)
    return [_record(row, sales.get(row.pk, NO_SALES)) for row in rows], found.count()


def customer_record(shop: Shop, customer: Customer) -> dict[str, Any]:
    """The customer as programs outside read it, with addresses, the default one first. Never a password."""
    sales = sales_of(shop, [customer]).get(customer.pk, NO_SALES)
    addresses = [address_record(address) for address in addresses_of(shop, customer)]
    return _record(customer, sales) | {"addresses": addresses}


def addresses_of(shop: Shop, customer: Customer) -> list[Address]:
    """The customer's addresses, the default one first."""
    return list(Address.objects.filter(shop=shop, customer=customer).order_by("-is_default", "pk"))


def default_address(shop: Shop, customer: Customer) -> Address | None:
    return Address.objects.filter(shop=shop, customer=customer, is_default=True).first()


def sales_of(shop: Shop, customers: Iterable[Customer]) -> dict[int, Sales]:
    """What these customers have bought, by their ids, in one read."""
    ids = [customer.pk for customer in customers]
    if not ids:
        return {}
    standing = ~Q(orders__status="cancelled")
    # By the customer's side of the relation, since the room of orders is built on this one.
    rows = Customer.objects.filter(shop=shop, pk__in=ids, orders__shop=shop).annotate(
        count=Count("orders", filter=standing),
        paid=Sum("orders__total", filter=standing & ~Q(orders__payment_status="pending"), default=ZERO),
        refunded=Sum("orders__refunded", filter=standing, default=ZERO),
    )
    found = rows.values_list("pk", "count", "paid", "refunded")
    return {pk: Sales(count, paid - refunded) for pk, count, paid, refunded in found}


def address_record(address: Address) -> dict[str, Any]:
    return {
        "id": address.pk,
        **{name: getattr(address, name) for name in ADDRESS_FIELDS},
        "is_default": address.is_default,
    }


def _record(customer: Customer, sales: Sales) -> dict[str, Any]:
    group = customer.group
    return {
        "id": customer.pk,
        "email": customer.email,
        "name": customer.name,
        "phone": customer.phone,
        "group": {"id": group.pk, "name": group.name} if group else None,
        "note": customer.note,
        "orders_count": sales.count,
        "total_spent": to_wire(sales.spent),
        "created_at": timestamp(customer.created_at),
        "updated_at": timestamp(customer.updated_at),
    }

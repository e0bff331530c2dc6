from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from storefront.customers.models import Address, Customer
from storefront.kit.api.members import only
from storefront.kit.clock import timestamp
from storefront.kit.money import ZERO, to_wire
from storefront.shops.models import Shop

ADDRESS_FIELDS = ("name", "company", "line1", "line2", "postal_code", "city", "region", "country", "phone")


@dataclass(frozen=True, slots=True)
class Sales:
    """Number of a customer's orders that were not cancelled, and the total of the paid ones less refunds."""

    count: int = 0
    spent: Decimal = ZERO


NO_SALES = Sales()


def customer_by_id(shop: Shop, customer_id: int | None) -> Customer | None:
    if customer_id is None:
        return None
    return Customer.objects.select_related("group").filter(shop=shop, pk=customer_id).first()


def customer_by_email(shop: Shop, email: str) -> Customer | None:
    """The customer with this email address, ignoring case."""
    return Customer.objects.filter(shop=shop, email=normal_email(email)).first()


def account_of(shop: Shop, email: str) -> Customer | None:
    """The account whose owner has proved this address. Choosing a password takes a link that was mailed to the address,
    and so does changing the address of an account."""
    customer = customer_by_email(shop, email)
    return customer if customer is not None and customer.can_sign_in else None


def normal_email(email: str) -> str:
    """The email address as stored and compared: in lowercase, without surrounding spaces."""
    return email.strip().lower()


def mailbox_of(email: str) -> str:
    """The mailbox behind an address, for counting people: `Ada+shop@Example.com` is `ada@example.com`. A domain is the
    same in its own letters and in ASCII. Dots stay, since at most providers they tell mailboxes apart."""
    name, at, domain = normal_email(email).rpartition("@")
    with suppress(UnicodeError):
        domain = domain.encode("idna").decode()
    return f"{name.partition('+')[0] or name}{at}{domain}"


def customer_page(
    shop: Shop,
    *,
    email: str | None,
    start: int,
    count: int,
    updated_since: datetime | None = None,
    ids: Collection[int] | None = None,
    members: frozenset[str] | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """`count` customers from offset `start`, newest first, as records without addresses or with these members; and the
    total number."""
    matching = Customer.objects.filter(shop=shop)
    if email is not None:
        matching = matching.filter(email=normal_email(email))
    if updated_since is not None:
        matching = matching.filter(updated_at__gte=updated_since)
    if ids is not None:
        matching = matching.filter(pk__in=ids)
    # The ids are read first, so that the rows before a deep page are skipped in the index alone.
    page = list(matching.order_by("-pk").values_list("pk", flat=True)[start : start + count])
    return list(customer_records(shop, page, members).values()), matching.count()


def customer_records(
    shop: Shop, ids: Collection[int], members: frozenset[str] | None = None
) -> dict[int, dict[str, Any]]:
    """The shop's customers among these ids, newest first: records by id, without addresses or with these members."""
    rows = list(Customer.objects.filter(shop=shop, pk__in=list(ids)).select_related("group").order_by("-pk"))
    sales = sales_of(shop, rows)
    records = {row.pk: _record(row, sales.get(row.pk, NO_SALES)) for row in rows}
    if members is None:
        return records
    if "addresses" in members:
        for record in records.values():
            record["addresses"] = []
        for address in Address.objects.filter(shop=shop, customer__in=list(records)).order_by("-is_default", "pk"):
            records[address.customer_id]["addresses"].append(address_record(address))
    return {id: only(record, members) for id, record in records.items()}


def customer_record(shop: Shop, customer: Customer) -> dict[str, Any]:
    """The customer as API JSON, with addresses, the default first. Never contains the password."""
    sales = sales_of(shop, [customer]).get(customer.pk, NO_SALES)
    addresses = [address_record(address) for address in addresses_of(shop, customer)]
    return _record(customer, sales) | {"addresses": addresses}


def addresses_of(shop: Shop, customer: Customer) -> list[Address]:
    """The customer's addresses, the default first."""
    return list(Address.objects.filter(shop=shop, customer=customer).order_by("-is_default", "pk"))


def default_address(shop: Shop, customer: Customer) -> Address | None:
    return Address.objects.filter(shop=shop, customer=customer, is_default=True).first()


def sales_of(shop: Shop, customers: Iterable[Customer]) -> dict[int, Sales]:
    """The sales of these customers by customer id, in one query. Customers without orders are missing."""
    ids = [customer.pk for customer in customers]
    if not ids:
        return {}
    not_cancelled = ~Q(orders__status="cancelled")
    # Sums are in the shop's currency. Orders from before a change of currency keep theirs, and are left out.
    counted = not_cancelled & Q(orders__currency=shop.currency)
    # Through the reverse relation, since this room cannot import the orders' models.
    rows = Customer.objects.filter(shop=shop, pk__in=ids, orders__shop=shop).annotate(
        count=Count("orders", filter=not_cancelled),
        paid=Sum("orders__total", filter=counted & ~Q(orders__payment_status="pending"), default=ZERO),
        refunded=Sum("orders__refunded", filter=counted, default=ZERO),
    )
    sums = rows.values_list("pk", "count", "paid", "refunded")
    return {pk: Sales(count, paid - refunded) for pk, count, paid, refunded in sums}


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
        "pending_email": customer.pending_email,
        "name": customer.name,
        "phone": customer.phone,
        "group": {"id": group.pk, "name": group.name} if group else None,
        "note": customer.note,
        "orders_count": sales.count,
        "total_spent": to_wire(sales.spent),
        "created_at": timestamp(customer.created_at),
        "updated_at": timestamp(customer.updated_at),
    }

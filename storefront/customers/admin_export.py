"""Customers as a CSV file, with their default address and what they bought."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import StreamingHttpResponse

from storefront import audit
from storefront.customers import queries
from storefront.customers.models import Address, Customer
from storefront.kit.files.csv_files import csv_response
from storefront.kit.money import to_wire
from storefront.shops.models import Shop
from storefront.staff.admin_base import check_own_site

BATCH_ROWS = 500
ADDRESS = ("name", "company", "line1", "line2", "postal_code", "city", "region", "country")
COLUMNS = [
    *("id", "email", "name", "phone", "group", "note", "created_at", "orders", "spent", "currency"),
    *(f"address_{name}" for name in ADDRESS),
]


def exported_customers(request: Any, customers: QuerySet[Customer]) -> StreamingHttpResponse:
    """Return these customers as a download. The export is recorded in the audit log when it begins."""
    check_own_site(request)
    shop = request.shop
    after = {"query": request.GET.urlencode()[:500]}
    audit.record(shop=shop, action="customers.exported", after=after, now=request.now)
    name = f"{shop.domain}-customers-{shop.local_time(request.now):%Y-%m-%d}.csv"
    return csv_response(name, COLUMNS, rows_of(shop, customers))


def rows_of(shop: Shop, customers: QuerySet[Customer]) -> Iterator[list[str]]:
    addresses = Prefetch("addresses", Address.objects.filter(is_default=True), to_attr="default_addresses")
    found = customers.select_related("group").prefetch_related(addresses)
    rows = found.iterator(chunk_size=BATCH_ROWS)
    while batch := list(islice(rows, BATCH_ROWS)):
        yield from _rows(shop, batch)


def _rows(shop: Shop, batch: list[Any]) -> Iterator[list[str]]:
    sales = queries.sales_of(shop, batch)
    for each in batch:
        address = each.default_addresses[0] if each.default_addresses else None
        sold = sales.get(each.pk, queries.NO_SALES)
        yield [
            str(each.pk),
            each.email,
            each.name,
            each.phone,
            str(each.group or ""),
            each.note,
            shop.local_time(each.created_at).isoformat(timespec="seconds"),
            str(sold.count),
            to_wire(sold.spent) or "",
            shop.currency,
            *(getattr(address, name, "") or "" for name in ADDRESS),
        ]

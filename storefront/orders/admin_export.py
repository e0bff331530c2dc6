"""Orders as a CSV file: a row for each line, with its order's columns, as other shops write them."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from storefront import audit
from storefront.kit.files.csv_files import csv_response
from storefront.kit.money import to_wire
from storefront.orders.models import Order, OrderLine
from storefront.shops.models import Shop
from storefront.staff.admin_base import check_own_site

BATCH_ROWS = 500
ADDRESS = ("name", "company", "line1", "line2", "postal_code", "city", "region", "country")
COLUMNS = [
    *("number", "placed_at", "status", "payment_status", "fulfilment_status", "email", "phone", "currency"),
    *("subtotal", "discount", "shipping", "tax", "total", "refunded", "payment_method", "shipping_method"),
    *("note", "shopper_note", "tags"),
    *(f"shipping_{name}" for name in ADDRESS),
    *(f"billing_{name}" for name in ADDRESS),
    *("line_sku", "line_name", "line_options", "line_qty", "line_price", "line_total", "line_fulfilled"),
    "line_refunded",
]


def exported_orders(request: Any, orders: QuerySet[Order]) -> StreamingHttpResponse:
    """Return these orders as a download, newest first. The export is recorded in the audit log when it begins."""
    check_own_site(request)
    shop = request.shop
    after = {"query": request.GET.urlencode()[:500]}
    audit.record(shop=shop, action="orders.exported", after=after, now=request.now)
    name = f"{shop.domain}-orders-{shop.local_time(request.now):%Y-%m-%d}.csv"
    return csv_response(name, COLUMNS, rows_of(shop, orders))


def rows_of(shop: Shop, orders: QuerySet[Order]) -> Iterator[list[str]]:
    found = orders.select_related(None).prefetch_related(None).prefetch_related("lines")
    for order in found.iterator(chunk_size=BATCH_ROWS):
        own = _order_cells(shop, order)
        for line in order.lines.all():
            yield [*own, *_line_cells(line)]


def _order_cells(shop: Shop, order: Order) -> list[str]:
    amounts = (order.subtotal, order.discount, order.shipping, order.tax, order.total, order.refunded)
    return [
        str(order.number),
        shop.local_time(order.placed_at).isoformat(timespec="seconds"),
        order.status,
        order.payment_status,
        order.fulfilment_status,
        order.email,
        order.phone,
        order.currency,
        *(to_wire(amount) or "" for amount in amounts),
        order.payment_method,
        order.shipping_method,
        order.note,
        order.shopper_note,
        ", ".join(order.tags),
        *_address(order.shipping_address),
        *_address(order.billing_address),
    ]


def _address(address: dict[str, str] | None) -> list[str]:
    return [(address or {}).get(name) or "" for name in ADDRESS]


def _line_cells(line: OrderLine) -> list[str]:
    options = ", ".join(f"{each['name']}: {each['value']}" for each in [*line.options, *line.custom_fields])
    counts = (str(line.fulfilled_qty), str(line.refunded_qty))
    return [line.sku, line.name, options, str(line.qty), f"{line.unit_price:.2f}", f"{line.line_total:.2f}", *counts]

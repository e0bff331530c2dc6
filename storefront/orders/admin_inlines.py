"""The tables on an order's admin page: lines and fulfilments. Those of payments are in `payments/admin.py`."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display

from storefront.orders.models import Fulfilment, OrderLine
from storefront.shops.admin_base import ReadOnlyInline, moment, money
from storefront.shops.rights import Right

PAYMENT_COLOURS = {
    "pending": "warning",
    "authorised": "info",
    "paid": "success",
    "partially_refunded": "danger",
    "refunded": "danger",
    "voided": "",
}


class OrderLineInline(ReadOnlyInline):
    model = OrderLine
    rights = {"view": Right.VIEW_ORDERS}
    fields = readonly_fields = ["name", "details", "sku", "qty", "fulfilled_qty", "price", "sum"]

    price = money("unit_price", "price")
    sum = money("line_total", "sum")

    @display(description="details")
    def details(self, row: OrderLine) -> str:
        chosen = [f"{choice['name']}: {choice['value']}" for choice in [*row.options, *row.custom_fields]]
        contents = [f"{item['qty']} × {item['name']}" for item in row.bundle_items]
        damaged = ["damaged"] if row.is_damaged else []
        return ", ".join([*chosen, *contents, *damaged]) or "–"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop", "order")


class FulfilmentInline(ReadOnlyInline):
    model = Fulfilment
    rights = {"view": Right.VIEW_ORDERS}
    fields = readonly_fields = ["pieces", "carrier", "tracking", "made"]

    made = moment("created_at", "made")

    @display(description="items")
    def pieces(self, row: Fulfilment) -> str:
        return ", ".join(str(line) for line in row.lines.all())

    @display(description="tracking")
    def tracking(self, row: Fulfilment) -> Any:
        if not row.tracking_url:
            return row.tracking_number or "–"
        text = row.tracking_number or "Track the parcel"
        return format_html('<a href="{}" rel="noopener noreferrer">{}</a>', row.tracking_url, text)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop").prefetch_related("lines__line")

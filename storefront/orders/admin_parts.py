"""What an order's page shows of its lines, parcels, payments and refunds, and the list of all payments."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display

from storefront.orders.models import Fulfilment, OrderLine, Payment, Refund
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, moment, money

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
    fields = readonly_fields = ["name", "details", "sku", "qty", "fulfilled_qty", "price", "sum"]

    price = money("unit_price", "price")
    sum = money("line_total", "sum")

    @display(description="details")
    def details(self, row: OrderLine) -> str:
        chosen = [f"{choice['name']}: {choice['value']}" for choice in [*row.options, *row.custom_fields]]
        parts = [f"{part['qty']} × {part['name']}" for part in row.bundle_items]
        damaged = ["damaged"] if row.is_damaged else []
        return ", ".join([*chosen, *parts, *damaged]) or "–"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop", "order")


class PaymentInline(ReadOnlyInline):
    model = Payment
    fields = readonly_fields = ["gateway", "status", "amount_shown", "back", "reference", "made"]

    amount_shown = money("amount")
    back = money("refunded", "given back")
    made = moment("created_at", "made")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


class FulfilmentInline(ReadOnlyInline):
    model = Fulfilment
    fields = readonly_fields = ["pieces", "carrier", "tracking", "made"]

    made = moment("created_at", "made")

    @display(description="pieces")
    def pieces(self, row: Fulfilment) -> str:
        return ", ".join(str(part) for part in row.lines.all())

    @display(description="tracking")
    def tracking(self, row: Fulfilment) -> Any:
        if not row.tracking_url:
            return row.tracking_number or "–"
        text = row.tracking_number or "Follow the parcel"
        return format_html('<a href="{}" rel="noopener noreferrer">{}</a>', row.tracking_url, text)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop").prefetch_related("lines__line")


class RefundInline(ReadOnlyInline):
    model = Refund
    fields = readonly_fields = ["amount_shown", "state", "reason", "restocked", "reference", "made"]

    amount_shown = money("amount")
    made = moment("created_at", "made")

    @display(description="state")
    def state(self, row: Refund) -> str:
        return f"{row.get_status_display()}: {row.failure}" if row.failure else row.get_status_display()

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    list_display = ["made", "order", "gateway", "amount_shown", "state"]
    list_select_related = ["shop", "order"]
    list_filter = ["status", "gateway"]
    search_fields = ["order__number", "order__email", "reference"]
    ordering = ["-created_at", "-id"]
    fields = readonly_fields = ["order", "gateway", "amount_shown", "back", "status", "reference", "made", "changed"]

    amount_shown = money("amount")
    back = money("refunded", "given back")
    made = moment("created_at", "made")
    changed = moment("updated_at", "last change")

    @display(description="state", ordering="status", label=PAYMENT_COLOURS)
    def state(self, row: Payment) -> tuple[str, str]:
        return row.status, row.get_status_display()

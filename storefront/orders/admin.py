from typing import Any

from django.contrib import admin, messages
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.kit.format import format_money
from storefront.kit.refusals import Refusal
from storefront.orders import actions
from storefront.orders.admin_forms import CancelForm, OrderForm, RefundForm, TrackingForm, confirm
from storefront.orders.admin_parts import (
    PAYMENT_COLOURS,
    FulfilmentInline,
    OrderLineInline,
    PaymentInline,
    RefundInline,
)
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order, Payment
from storefront.orders.refunds import request_refund
from storefront.orders.templatetags import order_text
from storefront.shops.admin_base import ShopScopedAdmin, moment, money

EVENTUAL: Any = {FulfilmentInline: "fulfilments", RefundInline: "refunds"}
STATUS_COLOURS = {"open": "info", "fulfilled": "success", "cancelled": "danger"}


@admin.register(Order)
class OrderAdmin(ShopScopedAdmin):
    """What was sold. The copies it is made of never change; notes, tags and what happens to it do."""

    form = OrderForm
    can_add = can_delete_rows = False
    list_display = ["order", "placed", "buyer", "sum", "payment", "state"]
    list_filter = ["status", "payment_status"]
    search_fields = ["number", "email", "customer__name", "lines__name", "lines__sku"]
    date_hierarchy = None
    ordering = ["-placed_at", "-id"]
    inlines = [OrderLineInline, FulfilmentInline, PaymentInline, RefundInline]
    actions = ["fulfil_chosen"]
    actions_detail = ["fulfil", "mark_paid", "refund", "cancel"]
    fieldsets: Any = [
        (None, {"fields": ["order", "status", "payment_status", "placed", "note", "tags"]}),
        ("Shopper", {"fields": ["buyer", "phone_shown", "ship_to", "bill_to", "shopper_note_shown"]}),
        ("Sums", {"fields": ["goods", "less", "delivery", "taxes", "sum", "back"]}),
    ]
    readonly_fields = [
        "order",
        "status",
        "payment_status",
        "placed",
        "cancelled",
        "why_cancelled",
        "buyer",
        "phone_shown",
        "ship_to",
        "bill_to",
        "shopper_note_shown",
        "goods",
        "less",
        "delivery",
        "taxes",
        "sum",
        "back",
    ]

    placed = moment("placed_at")
    cancelled = moment("cancelled_at")
    goods = money("subtotal", "goods")
    sum = money("total", "total")
    back = money("refunded")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        if obj is None or obj.status != Order.Status.CANCELLED:
            return shown
        return [shown[0], ("Cancellation", {"fields": ["cancelled", "why_cancelled"]}), *shown[1:]]

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        """Of parcels and refunds, only where there are any."""
        shown = super().get_inlines(request, obj)
        return [inline for inline in shown if inline not in EVENTUAL or getattr(obj, EVENTUAL[inline]).exists()]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """The deeds that can still be done; the others would only be refused."""
        order = self.get_object(request, str(object_id))
        fitting = {"fulfil", "cancel"} if order and order.status == Order.Status.OPEN else set()
        if order and order.fulfilments.exists():
            fitting.discard("cancel")
        if order and order.payments.filter(status=Payment.Status.PAID, refunded__lt=F("amount")).exists():
            fitting.add("refund")
        if order and order.status != Order.Status.CANCELLED and order.payment_status == Order.PaymentStatus.PENDING:
            fitting.add("mark_paid")
        found = super().get_actions_detail(request, object_id)
        return [each for each in found if each.action_name.removeprefix("orders_order_") in fitting]

    @display(description="order", ordering="number")
    def order(self, row: Order) -> str:
        return f"#{row.number}"

    @display(description="shopper", ordering="email")
    def buyer(self, row: Order) -> str:
        name = (row.billing_address or {}).get("name")
        return f"{name}, {row.email}" if name else row.email

    @display(description="state", ordering="status", label=STATUS_COLOURS)
    def state(self, row: Order) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="payment", ordering="payment_status", label=PAYMENT_COLOURS)
    def payment(self, row: Order) -> tuple[str, str]:
        return row.payment_status, row.get_payment_status_display()

    @display(description="phone")
    def phone_shown(self, row: Order) -> str:
        return row.phone or "–"

    @display(description="note of the shopper")
    def shopper_note_shown(self, row: Order) -> str:
        return row.shopper_note or "–"

    @display(description="delivery address")
    def ship_to(self, row: Order) -> str:
        return address_lines(row.shipping_address) if row.shipping_address else "Nothing to deliver"

    @display(description="billing address")
    def bill_to(self, row: Order) -> str:
        return address_lines(row.billing_address)

    @display(description="discount")
    def less(self, row: Order) -> str:
        names = ", ".join(line["name"] for line in row.discount_lines)
        return with_names(format_money(row.discount, row.currency), names)

    @display(description="delivery")
    def delivery(self, row: Order) -> str:
        return with_names(format_money(row.shipping, row.currency), row.shipping_method)

    @display(description="tax")
    def taxes(self, row: Order) -> str:
        kind = "contained in the prices" if row.prices_include_tax else "added to the prices"
        names = ", ".join(f"{line['name']} {line['percent']}%" for line in row.tax_lines)
        return with_names(format_money(row.tax, row.currency), ", ".join(filter(None, [names, kind])))

    @display(description="why it was cancelled")
    def why_cancelled(self, row: Order) -> str:
        return row.cancel_reason or "–"

    @action(
        description="Mark as fulfilled",
        icon="local_shipping",
        variant=ActionVariant.PRIMARY,
        dialog=confirm(
            "Mark as fulfilled?",
            "Everything that is left of this order has been handed over. The shopper gets a mail.",
            "Mark as fulfilled",
            TrackingForm,
        ),
    )
    def fulfil(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self._carry_out(request, order, fulfil_order, "Marked as fulfilled.", tracking=form.tracking)

    @action(
        description="Mark as paid",
        icon="payments",
        dialog=confirm("Mark as paid?", "The shop has received the money for this order.", "Mark as paid"),
    )
    def mark_paid(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self._carry_out(request, order, actions.mark_paid, "Marked as paid.")

    @action(
        description="Cancel",
        icon="cancel",
        variant=ActionVariant.DANGER,
        dialog=confirm(
            "Cancel this order?", "Its goods go back to stock. This cannot be undone.", "Cancel the order", CancelForm
        ),
    )
    def cancel(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self._carry_out(request, order, actions.cancel_order, "Cancelled.", **form.given)

    @action(
        description="Refund",
        icon="undo",
        dialog=confirm("Refund this order?", "The money goes back the way it came.", "Refund", RefundForm),
    )
    def refund(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self._carry_out(request, order, request_refund, "The refund is on its way.", **form.given)

    def _carry_out(self, request: Any, order: Order, deed: Any, text: str, **given: Any) -> HttpResponse:
        try:
            deed(shop=request.shop, order=order, now=request.now, **given)
        except Refusal as refusal:
            self.message_user(request, refusal.text, messages.ERROR)
            return self.back_to(request, order)
        return self.done(request, order, text)

    @admin.action(description="Mark as fulfilled")
    def fulfil_chosen(self, request: Any, queryset: QuerySet) -> None:
        refused = []
        for order in queryset:
            try:
                fulfil_order(shop=request.shop, order=order, now=request.now)
                self.log_change(request, order, "Marked as fulfilled.")
            except Refusal:
                refused.append(str(order))
        if refused:
            self.message_user(request, f"Not open, so left as they were: {', '.join(refused)}.", messages.WARNING)


def address_lines(address: dict[str, Any]) -> str:
    return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in order_text.address_lines(address)))


def with_names(amount: str, names: str) -> str:
    return f"{amount} ({names})" if names else amount

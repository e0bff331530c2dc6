"""Payments in the admin: on an order's page, with what changes them, and the list of all payments with their log."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.orders.admin import OrderAdmin
from storefront.orders.admin_forms import CancelForm, RefundForm, confirm
from storefront.orders.admin_inlines import PAYMENT_COLOURS
from storefront.orders.models import Order
from storefront.payments import actions
from storefront.payments.admin_accounts import ProviderAccountAdmin
from storefront.payments.models import Payment, PaymentEntry, Refund
from storefront.payments.refunds import refundable, request_refund
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, moment, money
from storefront.shops.rights import Right

__all__ = ["OrderWithPaymentsAdmin", "PaymentAdmin", "ProviderAccountAdmin"]


def state_text(row: Payment) -> str:
    """The payment's state, with why the last try failed, and how a dispute stands."""
    more = [row.failure, f"dispute: {row.dispute}" if row.dispute else ""]
    return ", ".join([row.get_state_display(), *filter(None, more)])


class PaymentInline(ReadOnlyInline):
    model = Payment
    rights = {"view": Right.VIEW_PAYMENTS}
    fields = readonly_fields = ["gateway", "how", "amount_shown", "refunded_shown", "reference", "made"]

    amount_shown = money("amount")
    refunded_shown = money("refunded", "refunded")
    made = moment("created_at", "made")

    @display(description="status")
    def how(self, row: Payment) -> str:
        return state_text(row)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


class RefundInline(ReadOnlyInline):
    model = Refund
    rights = {"view": Right.VIEW_PAYMENTS}
    fields = readonly_fields = ["amount_shown", "state", "reason", "restocked", "reference", "made"]

    amount_shown = money("amount")
    made = moment("created_at", "made")

    @display(description="status")
    def state(self, row: Refund) -> str:
        return f"{row.get_status_display()}: {row.failure}" if row.failure else row.get_status_display()

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


class EntryInline(ReadOnlyInline):
    model = PaymentEntry
    rights = {"view": Right.VIEW_PAYMENTS}
    verbose_name_plural = "log"
    fields = readonly_fields = ["when", "kind", "amount", "from_state", "to_state", "source", "event_id", "detail"]

    when = moment("at", "at")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    rights = {"view": Right.VIEW_PAYMENTS}
    list_display = ["made", "order", "gateway", "amount_shown", "state"]
    list_select_related = ["shop", "order"]
    list_filter = ["status", "gateway"]
    search_fields = ["order__number", "order__email", "reference"]
    ordering = ["-created_at", "-id"]
    fields = readonly_fields = [
        "order",
        "gateway",
        "amount_shown",
        "captured_shown",
        "returned_shown",
        "disputed_shown",
        "refunded_shown",
        "how",
        "method",
        "failure",
        "dispute",
        "reference",
        "made",
        "changed",
        "asked",
    ]
    inlines = [EntryInline]

    amount_shown = money("amount")
    refunded_shown = money("refunded", "refunded")
    made = moment("created_at", "made")
    changed = moment("updated_at", "last change")
    asked = moment("due_at", "asked about next")
    captured_shown = money("captured", "taken")
    returned_shown = money("returned", "given back")
    disputed_shown = money("disputed", "disputed")

    @display(description="status", ordering="status", label=PAYMENT_COLOURS)
    def state(self, row: Payment) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="status")
    def how(self, row: Payment) -> str:
        return state_text(row)


@admin.register(Order)
class OrderWithPaymentsAdmin(OrderAdmin):
    """Orders, with their payments and refunds."""

    rights = {
        **OrderAdmin.rights,
        "mark_paid": Right.TAKE_PAYMENTS,
        "refund": Right.REFUND_ORDERS,
        "cancel": Right.CANCEL_ORDERS,
    }
    inlines = [*OrderAdmin.inlines, PaymentInline, RefundInline]
    eventual = {**OrderAdmin.eventual, RefundInline: "refunds"}
    actions_detail = ["fulfil", "mark_paid", "refund", "cancel"]

    def possible_actions(self, order: Order) -> set[str]:
        possible = super().possible_actions(order)
        if order.status == Order.Status.OPEN and not order.fulfilments.exists():
            possible.add("cancel")
        if any(refundable(payment) for payment in order.payments.filter(status=Payment.Status.PAID)):
            possible.add("refund")
        if order.status != Order.Status.CANCELLED and order.payment_status == Order.PaymentStatus.PENDING:
            possible.add("mark_paid")
        return possible

    @action(
        description="Mark as paid",
        icon="payments",
        dialog=confirm(
            "Mark as paid?", "Confirm that the shop has received the payment for this order.", "Mark as paid"
        ),
    )
    def mark_paid(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self.perform(request, order, actions.mark_paid, "Marked as paid.")

    @action(
        description="Cancel",
        icon="cancel",
        variant=ActionVariant.DANGER,
        dialog=confirm(
            "Cancel this order?", "All items are restocked. This cannot be undone.", "Cancel order", CancelForm
        ),
    )
    def cancel(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self.perform(request, order, actions.cancel_order, "Order cancelled.", **form.given)

    @action(
        description="Refund",
        icon="undo",
        dialog=confirm("Refund this order?", "The refund goes to the original payment method.", "Refund", RefundForm),
    )
    def refund(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self.perform(request, order, request_refund, "Refund started.", **form.given)

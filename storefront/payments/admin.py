"""Payments in the admin: on an order's page, with what changes them, and the list of all payments with their log."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.orders.admin import OrderAdmin
from storefront.orders.admin_forms import CancelForm, confirm
from storefront.orders.admin_list import PAYMENT_COLOURS
from storefront.orders.models import Order
from storefront.payments import actions
from storefront.payments.admin_accounts import ProviderAccountAdmin
from storefront.payments.admin_gift_cards import GiftCardAdmin
from storefront.payments.admin_order import money_of, payment_state, pieces_of, refund_state
from storefront.payments.admin_refund_form import RefundForm
from storefront.payments.models import Payment, PaymentEntry, Refund
from storefront.payments.refunds import paid_payments, refundable, request_refund
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, moment, money
from storefront.shops.rights import Right

__all__ = ["GiftCardAdmin", "OrderWithPaymentsAdmin", "PaymentAdmin", "ProviderAccountAdmin"]


class AlertFilter(admin.SimpleListFilter):
    title = "attention"
    parameter_name = "attention"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("needed", "Needed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.exclude(alert="") if self.value() == "needed" else queryset


class RefundInline(ReadOnlyInline):
    model = Refund
    rights = {"view": Right.VIEW_PAYMENTS}
    fields = readonly_fields = ["amount_shown", "pieces", "state", "reason", "restocked", "reference", "made"]

    amount_shown = money("amount")
    made = moment("created_at", "made")

    @display(description="items")
    def pieces(self, row: Refund) -> str:
        return pieces_of(row) or "–"

    @display(description="status")
    def state(self, row: Refund) -> str:
        return refund_state(row)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop").prefetch_related("lines__line")


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
    empty_text = "Payments are listed here, with their status, from the first order on."
    rights = {"view": Right.VIEW_PAYMENTS}
    list_display = ["made", "order", "gateway", "amount_shown", "state", "attention"]
    list_select_related = ["shop", "order"]
    list_filter = ["status", "gateway", AlertFilter]
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
        "attention",
        "failure",
        "dispute",
        "reference",
        "made",
        "changed",
        "asked",
    ]
    inlines = [RefundInline, EntryInline]

    amount_shown = money("amount")
    refunded_shown = money("refunded", "refunded")
    made = moment("created_at", "made")
    changed = moment("updated_at", "last change")
    asked = moment("due_at", "next check")
    captured_shown = money("captured", "taken")

    @display(description="attention", ordering="alert", empty_value="")
    def attention(self, row: Payment) -> str:
        return row.alert

    returned_shown = money("returned", "given back")
    disputed_shown = money("disputed", "disputed")

    @display(description="status", ordering="status", label=PAYMENT_COLOURS)
    def state(self, row: Payment) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="status")
    def how(self, row: Payment) -> str:
        return payment_state(row)


class OrderWithPaymentsAdmin(OrderAdmin):
    """Orders, with their payments and refunds. `documents/admin.py` adds documents, and registers it."""

    rights = {
        **OrderAdmin.rights,
        "mark_paid": Right.TAKE_PAYMENTS,
        "refund": Right.REFUND_ORDERS,
        "cancel": Right.CANCEL_ORDERS,
    }
    actions_detail = [*OrderAdmin.actions_detail, "mark_paid", "refund", "cancel"]

    def page_of(self, request: Any, order: Order) -> dict[str, Any]:
        page = super().page_of(request, order)
        money = money_of(order, page["log"], may_see=Right.VIEW_PAYMENTS in request.rights)
        sums, happened = [*page["sums"], *money.pop("sums")], [*page["happened"], *money.pop("happened")]
        return page | money | {"sums": sums, "happened": happened}

    def possible_actions(self, order: Order) -> set[str]:
        possible = super().possible_actions(order)
        if order.status != Order.Status.CANCELLED and not order.fulfilments.filter(cancelled_at=None).exists():
            possible.add("cancel")
        if any(refundable(payment) for payment in paid_payments(order)):
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
            "Cancel this order?",
            "All items are restocked. This does not refund what was paid, and cannot be undone.",
            "Cancel order",
            CancelForm,
        ),
    )
    def cancel(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        text = "Order cancelled."
        if any(refundable(payment) for payment in order.payments.filter(status=Payment.Status.PAID)):
            text += " What was paid has not been refunded: “Refund” gives it back."
        return self.perform(request, order, actions.cancel_order, text, **form.given)

    @action(
        description="Refund",
        icon="undo",
        dialog=confirm(
            "Refund this order?",
            "The refund goes to the original payment method.",
            "Refund",
            RefundForm,
        ),
    )
    def refund(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self.perform(request, order, request_refund, "Refund started.", **form.given)

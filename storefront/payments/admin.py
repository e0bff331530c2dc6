"""Payments in the admin: on an order's page, with what changes them, and the list of all payments with their log."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from storefront.orders.admin import OrderAdmin
from storefront.orders.admin_forms import CancelForm
from storefront.orders.admin_list import PAYMENT_COLOURS
from storefront.orders.models import Order
from storefront.payments import actions
from storefront.payments.admin_accounts import ProviderAccountAdmin
from storefront.payments.admin_gift_cards import GiftCardAdmin
from storefront.payments.admin_order import money_of, payment_state, pieces_of, refund_state
from storefront.payments.admin_refund_form import RefundForm
from storefront.payments.alerts import worded
from storefront.payments.models import Payment, PaymentEntry, Refund
from storefront.payments.refunds import paid_payments, refundable, request_refund
from storefront.shops.rights import Right
from storefront.staff.admin_base import ReadOnlyAdmin
from storefront.staff.admin_parts import DANGER, Moves, asks, badge, choice_filter, column, deed, moment, money, names
from storefront.staff.admin_scope import ReadOnlyInline

__all__ = ["GiftCardAdmin", "OrderWithPaymentsAdmin", "PaymentAdmin", "ProviderAccountAdmin"]


ATTENTION = choice_filter(
    _lazy("attention"), "attention", {"needed": (_lazy("Needed"), lambda rows, request: rows.exclude(alert=""))}
)


class RefundInline(ReadOnlyInline):
    model = Refund
    fields = readonly_fields = ["amount_shown", "pieces", "state", "why", "restocked", "reference", "made"]

    amount_shown = money("amount", _lazy("amount"))
    made = moment("created_at", _lazy("made"))
    pieces = column(_lazy("items"), lambda row: pieces_of(row) or "–")
    state = column(_lazy("status"), refund_state)
    why = column(_lazy("reason"), lambda row: worded(row.reason))
    prefetched = ("lines__line",)


class EntryInline(ReadOnlyInline):
    model = PaymentEntry
    verbose_name_plural = _lazy("log")
    fields = readonly_fields = ["when", "kind", "amount", "from_state", "to_state", "source", "event_id", "note"]

    when = moment("at", _lazy("at"))
    note = column(_lazy("detail"), lambda row: worded(row.detail))


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    icon = "payments"
    empty_text = _lazy("Payments are listed here, with their status, from the first order on.")
    rights = {"view": Right.VIEW_PAYMENTS}
    list_display = ["made", "order", "gateway", "amount_shown", "state", "attention"]
    list_select_related = ["shop", "order"]
    list_filter = ["status", "gateway", ATTENTION]
    search_fields = ["order__number", "order__email", "reference"]
    ordering = ["-created_at", "-id"]
    fields = readonly_fields = names(
        "order gateway amount_shown captured_shown returned_shown disputed_shown refunded_shown how method "
        "attention failed dispute reference made changed asked"
    )
    inlines = [RefundInline, EntryInline]

    amount_shown = money("amount", _lazy("amount"))
    refunded_shown = money("refunded", _lazy("refunded"))
    made = moment("created_at", _lazy("made"))
    changed = moment("updated_at", _lazy("last change"))
    asked = moment("due_at", _lazy("next check"))
    captured_shown = money("captured", _lazy("taken"))
    attention = column(_lazy("attention"), lambda row: worded(row.alert), by="alert", empty="")
    failed = column(_lazy("failure"), lambda row: worded(row.failure), empty="")
    returned_shown = money("returned", _lazy("given back"))
    disputed_shown = money("disputed", _lazy("disputed"))
    state = badge("status", PAYMENT_COLOURS, by="status")

    how = column(_lazy("status"), payment_state)


class OrderWithPaymentsAdmin(OrderAdmin):
    """Orders, with their payments and refunds. `documents/admin.py` adds documents, and registers it."""

    def page_of(self, request: Any, order: Order) -> dict[str, Any]:
        page = super().page_of(request, order)
        money = money_of(order, page["log"], may_see=Right.VIEW_PAYMENTS in request.rights)
        sums, happened = [*page["sums"], *money.pop("sums")], [*page["happened"], *money.pop("happened")]
        problems = [*money.pop("problems"), *page["problems"]]
        return page | money | {"sums": sums, "happened": happened, "problems": problems}

    def possible_actions(self, order: Order) -> set[str]:
        possible = super().possible_actions(order)
        if order.status != Order.Status.CANCELLED and not order.fulfilments.filter(cancelled_at=None).exists():
            possible.add("cancel")
        if any(refundable(payment) for payment in paid_payments(order)):
            possible.add("refund")
        if order.status != Order.Status.CANCELLED and order.payment_status == Order.PaymentStatus.PENDING:
            possible.add("mark_paid")
        return possible

    @deed(_lazy("Mark as paid"), Right.TAKE_PAYMENTS, Moves.MONEY, icon="payments")
    @asks(
        _lazy("Mark as paid?"),
        _lazy("Confirm that the shop has received the payment for this order."),
        _lazy("Mark as paid"),
    )
    def mark_paid(self, request: Any, order: Any, form: Any) -> Any:
        return self.perform(request, order, actions.mark_paid, _("Marked as paid."))

    @deed(pgettext_lazy("an order", "Cancel"), Right.CANCEL_ORDERS, Moves.MONEY, icon="cancel", variant=DANGER)
    @asks(
        _lazy("Cancel this order?"),
        _lazy("All items are restocked. This does not refund what was paid, and cannot be undone."),
        _lazy("Cancel order"),
        CancelForm,
    )
    def cancel(self, request: Any, order: Any, form: Any) -> Any:
        texts = [_("Order cancelled.")]
        if any(refundable(payment) for payment in order.payments.filter(status=Payment.Status.PAID)):
            texts.append(_("The payment has not been refunded: choose “Refund” to return it."))
        return self.perform(request, order, actions.cancel_order, " ".join(texts), **form.given)

    @deed(_lazy("Refund"), Right.REFUND_ORDERS, Moves.MONEY, icon="undo")
    @asks(
        _lazy("Refund this order?"),
        _lazy("The refund goes to the original payment method."),
        _lazy("Refund"),
        RefundForm,
    )
    def refund(self, request: Any, order: Any, form: Any) -> Any:
        return self.perform(request, order, request_refund, _("Refund started."), **form.given)

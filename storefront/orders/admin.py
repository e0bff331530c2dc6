from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.kit.format import format_money
from storefront.kit.refusals import Refusal
from storefront.orders import actions
from storefront.orders.models import Order, OrderLine, Payment
from storefront.orders.templatetags import order_text
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, ShopScopedAdmin, moment, money
from storefront.shops.admin_forms import ShopScopedForm, WordsField

STATUS_COLOURS = {"open": "info", "fulfilled": "success", "cancelled": "danger"}
PAYMENT_COLOURS = {"pending": "warning", "authorised": "info", "paid": "success", "refunded": "danger", "voided": ""}


def confirm(title: str, description: str, submit: str) -> Any:
    """A dialog before a deed; its form is a POST of its own."""
    return {"title": title, "description": description, "form_class": None, "form_submit_text": submit}


class OrderLineInline(ReadOnlyInline):
    model = OrderLine
    fields = readonly_fields = ["name", "details", "sku", "qty", "price", "sum"]

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
    fields = readonly_fields = ["gateway", "status", "amount_shown", "reference", "made"]

    amount_shown = money("amount")
    made = moment("created_at", "made")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


class OrderForm(ShopScopedForm):
    tags = WordsField()


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
    inlines = [OrderLineInline, PaymentInline]
    actions = ["fulfil_chosen"]
    actions_detail = ["fulfil", "mark_paid", "cancel"]
    fieldsets: Any = [
        (None, {"fields": ["order", "status", "payment_status", "placed", "cancelled", "note", "tags"]}),
        ("Shopper", {"fields": ["buyer", "phone_shown", "ship_to", "bill_to", "shopper_note_shown"]}),
        ("Sums", {"fields": ["goods", "less", "delivery", "taxes", "sum"]}),
    ]
    readonly_fields = [
        "order",
        "status",
        "payment_status",
        "placed",
        "cancelled",
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
    ]

    placed = moment("placed_at")
    cancelled = moment("cancelled_at")
    goods = money("subtotal", "goods")
    sum = money("total", "total")

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """The deeds that can still be done; the others would only be refused."""
        order = self.get_object(request, str(object_id))
        fitting = {"fulfil", "cancel"} if order and order.status == Order.Status.OPEN else set()
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

    @action(
        description="Mark as fulfilled",
        icon="local_shipping",
        variant=ActionVariant.PRIMARY,
        dialog=confirm("Mark as fulfilled?", "Everything of this order has been handed over.", "Mark as fulfilled"),
    )
    def fulfil(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self._carry_out(request, order, actions.fulfil_order, "Marked as fulfilled.")

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
        dialog=confirm("Cancel this order?", "Its goods go back to stock. This cannot be undone.", "Cancel the order"),
    )
    def cancel(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self._carry_out(request, order, actions.cancel_order, "Cancelled.")

    def _carry_out(self, request: Any, order: Order, deed: Any, text: str) -> HttpResponse:
        try:
            deed(shop=request.shop, order=order, now=request.now)
        except Refusal as refusal:
            self.message_user(request, refusal.text, messages.ERROR)
            return self.back_to(request, order)
        return self.done(request, order, text)

    @admin.action(description="Mark as fulfilled")
    def fulfil_chosen(self, request: Any, queryset: QuerySet) -> None:
        refused = []
        for order in queryset:
            try:
                actions.fulfil_order(shop=request.shop, order=order, now=request.now)
                self.log_change(request, order, "Marked as fulfilled.")
            except Refusal:
                refused.append(str(order))
        if refused:
            self.message_user(request, f"Not open, so left as they were: {', '.join(refused)}.", messages.WARNING)


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    list_display = ["made", "order", "gateway", "amount_shown", "state"]
    list_select_related = ["shop", "order"]
    list_filter = ["status", "gateway"]
    search_fields = ["order__number", "order__email", "reference"]
    ordering = ["-created_at", "-id"]
    fields = readonly_fields = ["order", "gateway", "amount_shown", "status", "reference", "made", "changed"]

    amount_shown = money("amount")
    made = moment("created_at", "made")
    changed = moment("updated_at", "last change")

    @display(description="state", ordering="status", label=PAYMENT_COLOURS)
    def state(self, row: Payment) -> tuple[str, str]:
        return row.status, row.get_status_display()


def address_lines(address: dict[str, Any]) -> str:
    return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in order_text.address_lines(address)))


def with_names(amount: str, names: str) -> str:
    return f"{amount} ({names})" if names else amount

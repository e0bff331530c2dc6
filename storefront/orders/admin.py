from collections.abc import Iterable
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
from storefront.orders.admin_forms import DownloadsForm, OrderForm, TrackingForm, confirm
from storefront.orders.admin_inlines import (
    PAYMENT_COLOURS,
    DownloadInline,
    FulfilmentInline,
    OrderLineInline,
)
from storefront.orders.allowing import allow_downloads
from storefront.orders.download_links import is_withdrawn
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.orders.templatetags import order_text
from storefront.shops.admin_base import ShopScopedAdmin, moment, money
from storefront.shops.rights import Right

# Shown only if the order came by a checkout link.
SENT_BY = "Integration"
STATUS_COLOURS = {"open": "info", "fulfilled": "success", "cancelled": "danger"}


class OrderAdmin(ShopScopedAdmin):
    """Orders. Only note and tags can be edited; everything else changes by dialogs.

    `payments/admin.py` adds what has to do with money, and registers it.
    """

    form = OrderForm
    rights = {
        "view": Right.VIEW_ORDERS,
        "change": Right.ANNOTATE_ORDERS,
        "fulfil": Right.FULFIL_ORDERS,
        "fulfil_chosen": Right.FULFIL_ORDERS,
        "allow_downloads": Right.FULFIL_ORDERS,
    }
    list_display = ["order", "placed", "buyer", "sum", "payment", "state"]
    list_filter = ["status", "payment_status"]
    search_fields = ["number", "email", "client_reference", "customer__name", "lines__name", "lines__sku"]
    date_hierarchy = None
    ordering = ["-placed_at", "-id"]
    inlines: Any = [OrderLineInline, DownloadInline, FulfilmentInline]
    # Shown only if there are any.
    eventual: Any = {DownloadInline: "downloads", FulfilmentInline: "fulfilments"}
    actions = ["fulfil_chosen"]
    actions_detail: Any = ["fulfil", "allow_downloads"]
    fieldsets: Any = [
        (None, {"fields": ["order", "status", "payment_status", "placed", "note", "tags"]}),
        ("Customer", {"fields": ["buyer", "phone_shown", "ship_to", "bill_to", "shopper_note_shown"]}),
        (SENT_BY, {"fields": ["client_reference_shown", "metadata_shown", "return_url_shown", "checkout_link_shown"]}),
        ("Totals", {"fields": ["subtotal_shown", "discount_shown", "delivery", "taxes", "sum", "refunded_shown"]}),
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
        "client_reference_shown",
        "metadata_shown",
        "return_url_shown",
        "checkout_link_shown",
        "subtotal_shown",
        "discount_shown",
        "delivery",
        "taxes",
        "sum",
        "refunded_shown",
    ]

    placed = moment("placed_at")
    cancelled = moment("cancelled_at")
    subtotal_shown = money("subtotal")
    sum = money("total", "total")
    refunded_shown = money("refunded")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        if obj is None or not (obj.checkout_link or obj.client_reference or obj.metadata):
            shown = [each for each in shown if each[0] != SENT_BY]
        if obj is None or obj.status != Order.Status.CANCELLED:
            return shown
        return [shown[0], ("Cancellation", {"fields": ["cancelled", "why_cancelled"]}), *shown[1:]]

    def save_model(self, request: Any, obj: Order, form: Any, change: bool) -> None:
        changes = {name: getattr(obj, name) for name in form.changed_data}
        actions.annotate_order(shop=request.shop, order=obj, changes=changes, now=request.now)

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        """Downloads, fulfilments and refunds are shown only if there are any."""
        shown = super().get_inlines(request, obj)
        return [each for each in shown if each not in self.eventual or getattr(obj, self.eventual[each]).exists()]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Only the actions that are possible in the order's current state."""
        order = self.get_object(request, str(object_id))
        possible = self.possible_actions(order) if order else set()
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if each.action_name.removeprefix("orders_order_") in possible]

    def possible_actions(self, order: Order) -> set[str]:
        possible = {"fulfil"} if order.status == Order.Status.OPEN else set()
        if not is_withdrawn(order) and order.downloads.exists():
            possible.add("allow_downloads")
        return possible

    @display(description="order", ordering="number")
    def order(self, row: Order) -> str:
        return f"#{row.number}"

    @display(description="customer", ordering="email")
    def buyer(self, row: Order) -> str:
        name = (row.billing_address or {}).get("name")
        return f"{name}, {row.email}" if name else row.email

    @display(description="status", ordering="status", label=STATUS_COLOURS)
    def state(self, row: Order) -> tuple[str, str]:
        return row.status, row.get_status_display()

    @display(description="payment", ordering="payment_status", label=PAYMENT_COLOURS)
    def payment(self, row: Order) -> tuple[str, str]:
        return row.payment_status, row.get_payment_status_display()

    @display(description="phone")
    def phone_shown(self, row: Order) -> str:
        return row.phone or "–"

    @display(description="note from the customer")
    def shopper_note_shown(self, row: Order) -> str:
        return row.shopper_note or "–"

    @display(description="reference")
    def client_reference_shown(self, row: Order) -> str:
        return row.client_reference or "–"

    @display(description="metadata")
    def metadata_shown(self, row: Order) -> str:
        return lines_of(f"{name}: {value}" for name, value in sorted(row.metadata.items())) or "–"

    @display(description="return URL")
    def return_url_shown(self, row: Order) -> str:
        return row.return_url or "–"

    @display(description="cart of the checkout link")
    def checkout_link_shown(self, row: Order) -> str:
        return str(row.checkout_link or "–")

    @display(description="delivery address")
    def ship_to(self, row: Order) -> str:
        return address_lines(row.shipping_address) if row.shipping_address else "No delivery needed"

    @display(description="billing address")
    def bill_to(self, row: Order) -> str:
        return address_lines(row.billing_address)

    @display(description="discount")
    def discount_shown(self, row: Order) -> str:
        codes = ((line["name"], line.get("code")) for line in row.discount_lines)
        names = ", ".join(f"{name}, code {code}" if code else name for name, code in codes)
        return with_names(format_money(row.discount, row.currency), names)

    @display(description="delivery")
    def delivery(self, row: Order) -> str:
        return with_names(format_money(row.shipping, row.currency), row.shipping_method)

    @display(description="tax")
    def taxes(self, row: Order) -> str:
        kind = "included in prices" if row.prices_include_tax else "added to prices"
        names = ", ".join(f"{line['name']} {line['percent']}%" for line in row.tax_lines)
        return with_names(format_money(row.tax, row.currency), ", ".join(filter(None, [names, kind])))

    @display(description="cancellation reason")
    def why_cancelled(self, row: Order) -> str:
        return row.cancel_reason or "–"

    @action(
        description="Mark as fulfilled",
        icon="local_shipping",
        variant=ActionVariant.PRIMARY,
        dialog=confirm(
            "Mark as fulfilled?",
            "Marks all remaining items as fulfilled and emails the customer.",
            "Mark as fulfilled",
            TrackingForm,
        ),
    )
    def fulfil(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        return self.perform(request, order, fulfil_order, "Marked as fulfilled.", tracking=form.tracking)

    @action(
        description="Allow downloads again",
        icon="download",
        dialog=confirm(
            "Allow downloads again?",
            "The files can then be downloaded as often and as long as after the payment.",
            "Allow again",
            DownloadsForm,
        ),
    )
    def allow_downloads(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        order = self.row_or_404(request, object_id)
        ids = form.cleaned_data["files"]
        return self.perform(request, order, allow_downloads, "Downloads allowed again.", ids=ids)

    def perform(self, request: Any, order: Order, change: Any, text: str, **given: Any) -> HttpResponse:
        change(shop=request.shop, order=order, now=request.now, **given)
        return self.done(request, order, text)

    @admin.action(description="Mark as fulfilled")
    def fulfil_chosen(self, request: Any, queryset: QuerySet) -> None:
        refused = []
        for order in queryset:
            try:
                fulfil_order(shop=request.shop, order=order, now=request.now)
            except Refusal:
                refused.append(str(order))
        if refused:
            self.message_user(request, f"Skipped, because they are not open: {', '.join(refused)}.", messages.WARNING)


def address_lines(address: dict[str, Any]) -> str:
    return lines_of(order_text.address_lines(address))


def lines_of(texts: Iterable[str]) -> str:
    """The texts, escaped, each on a line of its own."""
    return format_html_join(mark_safe("<br>"), "{}", ((text,) for text in texts))


def with_names(amount: str, names: str) -> str:
    return f"{amount} ({names})" if names else amount

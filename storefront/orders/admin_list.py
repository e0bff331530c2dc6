"""The list of orders in the admin: columns, views, search."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext, pgettext_lazy
from unfold.decorators import display

from storefront.kit.countries import country_name
from storefront.kit.refusals import Refusal
from storefront.orders.admin_page import ERASED
from storefront.orders.models import Order
from storefront.orders.sending import to_print, to_send_later, to_send_now
from storefront.orders.sent_mails import with_failed_mail
from storefront.orders.words import find_orders
from storefront.staff.admin_base import EndlessPaginator
from storefront.staff.admin_parts import badge, column, moment, money
from storefront.staff.admin_saved_views import WithSavedViews

PAYMENT_COLOURS = {
    "pending": "warning",
    "authorised": "info",
    "paid": "success",
    "partially_refunded": "danger",
    "refunded": "danger",
    "voided": "",
}
DELIVERY_COLOURS = {"unfulfilled": "warning", "partially_fulfilled": "info", "fulfilled": "success", "cancelled": ""}
VIEWS = [
    ("to_send", _lazy("To send")),
    ("to_print", _lazy("To print")),
    ("waiting", _lazy("Pre-orders")),
    ("unpaid", _lazy("Unpaid")),
    ("sent", _lazy("Fulfilled")),
    ("cancelled", pgettext_lazy("an order", "Cancelled")),
]
# A view that the start page links to, which is not among the tabs.
MORE_VIEWS = [("mail_failed", _lazy("Email could not be sent"))]
SOME = _lazy("Very many orders match. These are some of them. To find fewer, add a word or use a longer one.")


class SearchCut(Refusal):
    message = _lazy("Too many orders match to export all of them. Add a word, or use a longer one.")


class ViewFilter(admin.SimpleListFilter):
    """The views above the list."""

    title, parameter_name = _lazy("view"), "view"

    @property
    def is_shown_above(self) -> bool:
        """Returns True if a tab above the list shows the choice."""
        return self.value() in (None, *(name for name, _text in VIEWS))

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(text)) for value, text in (*VIEWS, *MORE_VIEWS)]

    def queryset(self, request: Any, queryset: QuerySet) -> QuerySet:
        statuses = Order.Status
        if self.value() in ("to_send", "waiting"):
            is_open = queryset.filter(status=statuses.OPEN)
            return (to_send_now if self.value() == "to_send" else to_send_later)(is_open, request.now)
        if self.value() == "to_print":
            return to_print(queryset, request.now)
        if self.value() == "unpaid":
            return queryset.filter(payment_status="pending").exclude(status=statuses.CANCELLED)
        if self.value() == "mail_failed":
            return with_failed_mail(queryset, request.shop, request.now)
        found = {"sent": statuses.FULFILLED, "cancelled": statuses.CANCELLED}.get(self.value() or "")
        return queryset.filter(status=found) if found else queryset


class OrderLists(WithSavedViews):
    """The list of orders, which can be very long: it has no total, and a search of its own (`words.py`)."""

    paginator = EndlessPaginator
    list_display: Any = ["order", "placed", "buyer", "country", "pieces", "sum", "payment", "delivery_state"]
    on_phone = ("order", "sum", "buyer", "placed", "payment", "delivery_state")
    list_filter: Any = [ViewFilter, "status", "fulfilment_status", "payment_status"]
    search_fields = ["number"]
    search_help_text = _lazy("Number, name, email or SKU")
    date_hierarchy = None
    ordering = ["-placed_at", "-id"]

    placed = moment("placed_at", _lazy("placed"))
    sum = money("total", _lazy("total"))

    def tabs_of_list(self, request: Any, query: str) -> list[dict[str, Any]]:
        """Views that keep the list's other filters and its search."""
        others = request.GET.copy()
        for name in ("view", "p"):
            others.pop(name, None)
        chosen = request.GET.get("view", "")
        return [
            {"title": title, "url": f"?{'&'.join(filter(None, [f'view={name}' if name else '', others.urlencode()]))}"}
            | {"is_chosen": name == chosen, "query": f"view={name}" if name else ""}
            for name, title in [("", _("All")), *VIEWS]
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rows = super().get_queryset(request)
        return rows.prefetch_related("lines") if is_list(request) else rows

    def listed(self, request: Any) -> QuerySet[Order]:
        """Like the base class. Raises SearchCut if the search does not find all orders that match."""
        if not find_orders(request.shop, request.GET.get("q", "")).is_all:
            raise SearchCut
        return super().listed(request)

    def get_search_results(self, request: Any, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        if not search_term.strip():
            return queryset, False
        found = find_orders(request.shop, search_term)
        if is_list(request) and not found.is_all:
            messages.info(request, SOME)
        return queryset.filter(pk__in=found.keys), False

    @display(description=_lazy("customer"))
    def buyer(self, row: Order) -> str:
        name = (row.billing_address or {}).get("name")
        return f"{name}, {row.email}" if name else row.email or str(ERASED)

    @display(description=_lazy("to"))
    def country(self, row: Order) -> str:
        if row.pickup_place:
            return _("Pick-up")
        return country_name(row.shipping_address.get("country", "")) if row.shipping_address else "–"

    pieces = column(_lazy("items"), lambda row: str(_count(line.qty for line in row.lines.all())))
    payment = badge("payment_status", PAYMENT_COLOURS, _lazy("payment"), by="payment_status")

    @display(description=pgettext_lazy("of an order", "delivery"), ordering="fulfilment_status", label=DELIVERY_COLOURS)
    def delivery_state(self, row: Order) -> tuple[str, str]:
        if row.status == Order.Status.CANCELLED:
            return "cancelled", pgettext("an order", "Cancelled")
        return row.fulfilment_status, row.get_fulfilment_status_display()


def is_list(request: HttpRequest) -> bool:
    """Returns True for the list itself; False for an order's page and the admin-wide search."""
    match = request.resolver_match
    return match is not None and match.url_name == "orders_order_changelist"


def _count(numbers: Any) -> int:
    return sum(numbers)

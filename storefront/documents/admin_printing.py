"""Papers of several orders as one PDF, and the print queue, in the admin's list of orders."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.documents.links import pdf_response
from storefront.documents.printing import AlreadyPrinted, mark_printed, papers_of, print_queue
from storefront.documents.records import Record
from storefront.kit.format import format_count, format_time
from storefront.orders.models import Order
from storefront.payments.admin import OrderWithPaymentsAdmin
from storefront.shops.rights import Right
from storefront.staff.admin_parts import Moves, chosen_deed, list_deed, sure

# Each document takes a tenth of a second to draw.
MAX_AT_ONCE = 100
TOO_MANY = format_lazy(_lazy("Choose at most {count} at once."), count=MAX_AT_ONCE)


def _waiting(request: Any, row: None) -> dict[str, Any]:
    count = len(print_queue(request.shop, request.now).values_list("pk")[: MAX_AT_ONCE + 1])
    waiting = format_count(count) if count <= MAX_AT_ONCE else _("more than %(count)s") % {"count": MAX_AT_ONCE}
    return {"facts": [(_("orders to print"), waiting)], "back": "../"}


class OrderWithPrintQueueAdmin(OrderWithPaymentsAdmin):
    """Orders, whose list prints packing slips and invoices, and marks the orders as printed."""

    @list_deed(_lazy("Print queue"), Right.FULFIL_ORDERS, Moves.PERSONAL_DATA, icon="print", url_path="print-queue.pdf")
    @sure(
        _lazy("Print packing slips and invoices?"),
        _lazy("Print"),
        format_lazy(
            _lazy("One PDF with the papers of the orders to send that nobody has printed, the {count} oldest at most."),
            count=MAX_AT_ONCE,
        ),
        _lazy("The orders are marked as printed, so that nobody else prints them too."),
        more=_waiting,
    )
    def print_waiting(self, request: Any) -> HttpResponse:
        queue = print_queue(request.shop, request.now).prefetch_related("lines")[:MAX_AT_ONCE]
        return self._print(request, list(queue)) or self.back_to(request, None)

    @chosen_deed(_lazy("Print packing slips and invoices"), Right.FULFIL_ORDERS, Moves.PERSONAL_DATA)
    def print_papers(self, request: Any, queryset: QuerySet) -> Any:
        # Orders that somebody else has printed have left the list of orders to print, and are named all the same.
        if request.POST.get("select_across") != "1":
            queryset = self.get_queryset(request).filter(pk__in=request.POST.getlist(ACTION_CHECKBOX_NAME))
        return self._print(request, list(queryset.prefetch_related("lines")[: MAX_AT_ONCE + 1]))

    def _print(self, request: Any, orders: list[Order]) -> HttpResponse | None:
        """The PDF, after which the orders are marked; or a page that names what was printed before."""
        again = "again" in request.POST

        def refusal(order: Order) -> str:
            return _printed_before(order, request.shop.timezone) if order.printed_at and not again else cancelled(order)

        def records(chosen: list[Order]) -> list[Record]:
            return papers_of(request.shop, chosen, request.now)

        if not orders:
            self.message_user(request, _("There is nothing to print."), messages.INFO)
            return None
        response = print_chosen(self, request, orders, "papers", refusal, records)
        if response is None or isinstance(response, TemplateResponse):
            return response
        try:
            mark_printed(shop=request.shop, orders=orders, again=again, now=request.now)
        except AlreadyPrinted:
            rows = Order.objects.filter(shop=request.shop, pk__in=[order.pk for order in orders])
            fresh = list(rows.prefetch_related("lines").order_by("placed_at", "id"))
            return print_chosen(self, request, fresh, "papers", refusal, records)
        return response


def cancelled(order: Order) -> str:
    return _("was cancelled") if order.status == Order.Status.CANCELLED else ""


def _printed_before(order: Order, timezone: str) -> str:
    when = format_time(order.printed_at, timezone)
    return cancelled(order) or _("was printed by %(name)s on %(when)s") % {"name": order.printed_by, "when": when}


def print_chosen(
    page: Any,
    request: HttpRequest,
    orders: Iterable[Order],
    what: str,
    refusal: Callable[[Order], str],
    records: Callable[[list[Order]], list[Record]],
) -> HttpResponse | None:
    """Return one PDF of the orders, in the order of the list. `refusal` returns the reason why an order cannot be
    printed. If there is such an order, return a page that names each of them, with a button to print the others. Too
    many orders are refused with a message."""
    chosen = list(orders[: MAX_AT_ONCE + 1])  # type: ignore[index]
    if len(chosen) > MAX_AT_ONCE:
        page.message_user(request, TOO_MANY, messages.WARNING)
        return None
    refused = [(order, reason) for order in chosen if (reason := refusal(order))]
    left_out = {order.pk for order, _reason in refused}
    printable = [order for order in chosen if order.pk not in left_out]
    if printable and not refused:
        return pdf_response(records(printable), f"{what.replace('_', '-')}.pdf")
    name = _("packing slips and invoices") if what == "papers" else what.replace("_", " ")
    printed = [order for order, _reason in refused if what == "papers" and not cancelled(order)]
    context = {
        **page.admin_site.each_context(request),
        "title": _("Print %(name)s") % {"name": name},
        "opts": page.opts,
        "what": name,
        "action": "print_papers" if what == "papers" else f"{what}_of_chosen",
        "refused": refused,
        "printable": printable,
        "again": [*printed, *printable] if printed else [],
    }
    return TemplateResponse(request, "documents/admin/print_chosen.html", context)

"""Prints documents of several orders from their list: one PDF, or first a page that lists orders which cannot be
printed."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from storefront.documents.records import Record
from storefront.documents.responses import pdf_response
from storefront.orders.models import Order

# Each document takes a tenth of a second to draw.
MAX_AT_ONCE = 100
TOO_MANY = f"Choose at most {MAX_AT_ONCE} at once."


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
    left_out = {order.pk for order, _ in refused}
    printable = [order for order in chosen if order.pk not in left_out]
    if printable and not refused:
        return pdf_response(records(printable), f"{what.replace('_', '-')}.pdf")
    name = what.replace("_", " ")
    context = {
        **page.admin_site.each_context(request),
        "title": f"Print {name}",
        "opts": page.opts,
        "what": name,
        "action": f"{what}_of_chosen",
        "refused": refused,
        "printable": printable,
    }
    return TemplateResponse(request, "documents/admin/print_chosen.html", context)

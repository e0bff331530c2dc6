"""The print queue: packing slips and invoices of orders to send, as one PDF, marked as printed with who and when.

A PDF is drawn first, and its orders are marked then, so that nothing is marked that was not printed. Of two who print
an order at once, the second to be ready gets AlreadyPrinted instead of the PDF.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.documents.queries import invoices_of, packing_slips
from storefront.documents.records import Record
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order
from storefront.orders.sending import to_print
from storefront.shops.models import Shop


class AlreadyPrinted(Refusal):
    code = "already_printed"
    message = _lazy("Somebody has just printed some of these orders.")


def print_queue(shop: Shop, now: datetime) -> QuerySet[Order]:
    """The orders to send that nobody has printed, oldest first."""
    return to_print(Order.objects.filter(shop=shop), now).order_by("placed_at", "id")


def papers_of(shop: Shop, orders: Sequence[Order], now: datetime) -> list[Record]:
    """The packing slip of each order, and behind it the invoice, if there is one."""
    invoices = invoices_of(shop, orders)
    records: list[Record] = []
    for order, slip in zip(orders, packing_slips(shop, orders, now), strict=True):
        records += [slip, invoices[order.pk].record] if order.pk in invoices else [slip]
    return records


@transaction.atomic
def mark_printed(*, shop: Shop, orders: Sequence[Order], again: bool, now: datetime) -> None:
    """Mark these orders as printed by the current actor. Raises AlreadyPrinted if somebody else was first, unless they
    are printed `again`."""
    rows = Order.objects.select_for_update(no_key=True, of=("self",)).filter(shop=shop).order_by("pk")
    found = list(rows.filter(pk__in=[order.pk for order in orders]).only("pk", "shop", "number", "printed_at"))
    if not again and any(row.printed_at for row in found):
        raise AlreadyPrinted
    who = audit.current_actor().name[:254]
    Order.objects.filter(shop=shop, pk__in=[row.pk for row in found]).update(printed_at=now, printed_by=who)
    for row in found:
        audit.record(shop=shop, action="order.printed", object=row, now=now)

"""Problems of an order, for the top of its page, each with what mends it. `payments` adds those of the money."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from storefront.catalogue.models import Product, Variant
from storefront.kit.format import format_count, format_money
from storefront.orders.models import Order, OrderLine, OrderMail
from storefront.orders.sending import is_due, waiting
from storefront.orders.sent_mails import MENTIONED_FOR
from storefront.orders.timeline import MAILS
from storefront.pricing.models import DeliveryZone
from storefront.pricing.zones import zone_of
from storefront.shops.models import Shop

# An order that was paid and can be sent is late after this time.
LATE_AFTER = timedelta(days=3)


@dataclass(frozen=True)
class Problem:
    """A sentence, and what mends it: an action of the page by its name, or a link with its text."""

    text: str
    deed: str = ""
    url: str = ""
    link: str = ""


def problems_of(
    shop: Shop, order: Order, lines: Sequence[OrderLine], mails: Iterable[OrderMail], now: datetime
) -> list[Problem]:
    if order.status == Order.Status.CANCELLED or order.erased_at:
        return []
    left = [line for line in waiting(lines) if is_due(line, now)] if order.status == Order.Status.OPEN else []
    return [
        *_unpaid(order),
        *_late(order, left, now),
        *_address(shop, order, left),
        *_stock(shop, left),
        *_mails(mails, now),
    ]


def _unpaid(order: Order) -> Iterator[Problem]:
    if order.amount_due:
        amount = format_money(order.amount_due, order.currency)
        yield Problem(_("%(amount)s is not paid yet.") % {"amount": amount}, deed="mark_paid")


def _late(order: Order, left: Sequence[OrderLine], now: datetime) -> Iterator[Problem]:
    if not left or order.payment_status == Order.PaymentStatus.PENDING:
        return
    waits = now - min(max(order.placed_at, line.available_from or order.placed_at) for line in left)
    if waits > LATE_AFTER:
        text = ngettext("Has waited %(count)s day to be sent.", "Has waited %(count)s days to be sent.", waits.days)
        yield Problem(text % {"count": format_count(waits.days)}, deed="fulfil")


def _address(shop: Shop, order: Order, left: Sequence[OrderLine]) -> Iterator[Problem]:
    if order.pickup_place or not any(line.requires_shipping for line in left):
        return
    address = order.shipping_address or {}
    names = {"name": _("name"), "line1": _("street"), "city": _("city"), "country": _("country")}
    if missing := [text for name, text in names.items() if not address.get(name)]:
        text = _("The delivery address lacks: %(missing)s.") % {"missing": ", ".join(missing)}
        yield Problem(text, deed="write")
        return
    zones = list(DeliveryZone.objects.filter(shop=shop))
    if zones and zone_of(zones, address) is None:
        yield Problem(
            _("The delivery address is in none of your delivery zones."),
            url=reverse("admin:pricing_deliveryzone_changelist"),
            link=_("Delivery zones"),
        )


def _stock(shop: Shop, left: Sequence[OrderLine]) -> Iterator[Problem]:
    """Stock that was sold below zero, so that not everything that was ordered is there."""
    taken = [use for line in left for use in line.stock_taken]
    ids = {kind: [use["id"] for use in taken if use["stock"] == kind] for kind in ("product", "variant")}
    if not (ids["product"] or ids["variant"]):
        return
    short: list[Any] = list(Product.objects.filter(shop=shop, pk__in=ids["product"], stock_qty__lt=0))
    if ids["variant"]:
        rows = Variant.objects.filter(shop=shop, pk__in=ids["variant"], stock_qty__lt=0)
        short += rows.select_related("product")
    for row in short:
        name = f"{row.product.name}, {row.name}" if isinstance(row, Variant) else row.name
        page = f"admin:catalogue_{row._meta.model_name}_change"
        yield Problem(
            _("%(name)s: %(count)s too few in stock.") % {"name": name, "count": format_count(-row.stock_qty)},
            url=f"{reverse(page, args=[row.pk])}#id_stock_qty",
            link=_("Change stock"),
        )


def _mails(mails: Iterable[OrderMail], now: datetime) -> Iterator[Problem]:
    """The newest mail of each kind, if it could not be sent a short time ago."""
    for mail in {each.kind: each for each in mails}.values():
        if mail.failed_at and mail.failed_at > now - MENTIONED_FOR:
            what = {"what": MAILS.get(mail.kind, _("Email")), "email": mail.email}
            yield Problem(_("%(what)s could not be sent to %(email)s") % what + ".", deed="write")

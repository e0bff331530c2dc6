"""Prepares one order for the admin's template, as plain values."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext

from storefront.kit.format import format_count, format_day, format_money, format_time
from storefront.orders.mail_pictures import small_picture
from storefront.orders.models import Download, Fulfilment, Order, OrderLine
from storefront.orders.templatetags import order_text
from storefront.shops.languages import CHOICES
from storefront.shops.models import Shop

BADGES = {
    "open": "info",
    "fulfilled": "good",
    "cancelled": "bad",
    "pending": "warn",
    "paid": "good",
    "partially_refunded": "warn",
    "refunded": "plain",
    "unfulfilled": "warn",
    "partially_fulfilled": "info",
}


# Replaces the name or address of an erased customer.
ERASED = _lazy("Erased")


@dataclass(frozen=True)
class Row:
    """An amount of the summary with its name, and its parts."""

    name: str
    amount: str
    detail: str = ""
    is_total: bool = False


def badges(order: Order) -> list[tuple[str, str]]:
    """The order's statuses, as (colour, text)."""
    money = (BADGES[order.payment_status], order.get_payment_status_display())
    erased = [("plain", _("Customer erased"))] if order.erased_at else []
    if order.status == Order.Status.CANCELLED:
        return [(BADGES["cancelled"], pgettext("an order", "Cancelled")), money, *erased]
    return [money, (BADGES[order.fulfilment_status], order.get_fulfilment_status_display()), *erased]


def lines_of(shop: Shop, order: Order, lines: Iterable[OrderLine]) -> list[dict[str, Any]]:
    return [
        {
            "row": line,
            "picture": small_picture(shop, line.image),
            "details": details_of(line, shop),
            "price": format_money(line.unit_price, order.currency),
            "sum": format_money(line.line_total, order.currency),
            "tax": " + ".join(order_text.tax_label(each) for each in line.tax_lines),
            "state": state_of(line),
            "url": reverse("admin:catalogue_product_change", args=[line.product_id]) if line.product_id else "",
        }
        for line in lines
    ]


def details_of(line: OrderLine, shop: Shop) -> str:
    chosen = [f"{choice['name']}: {choice['value']}" for choice in [*line.options, *line.custom_fields]]
    contents = [f"{item['qty']} × {item['name']}" for item in line.bundle_items]
    more = [_("damaged")] if line.is_damaged else []
    if line.available_from:
        more.append(_("pre-order, sent from %(day)s") % {"day": format_day(line.available_from, shop.timezone)})
    return ", ".join([*chosen, *contents, *more])


def state_of(line: OrderLine) -> str:
    """The state of the line's pieces, such as `1 sent, 1 refunded`; empty if nothing has happened to them."""
    counts = [
        (line.fulfilled_qty, _("%(count)s sent")),
        (line.refunded_qty, _("%(count)s refunded")),
        (line.closed_qty, _("%(count)s will not be sent")),
    ]
    return ", ".join(text % {"count": count} for count, text in counts if count)


def sums_of(order: Order) -> list[Row]:
    """The summary from subtotal to total, without payments."""
    rows = [Row(_("Subtotal"), format_money(order.subtotal, order.currency))]
    if order.discount or order.discount_lines:
        codes = ((line["name"], line.get("code")) for line in order.discount_lines)
        names = ", ".join(
            _("%(discount)s, code %(code)s") % {"discount": name, "code": code} if code else name
            for name, code in codes
        )
        rows.append(Row(_("Discount"), f"−{format_money(order.discount, order.currency)}", names))
    delivery = ", ".join(filter(None, [order.shipping_method, order.delivery_time]))
    rows.append(Row(_("Delivery"), format_money(order.shipping, order.currency), delivery))
    if not order.prices_include_tax:
        rows += _taxes(order, _("Tax"))
    rows.append(Row(_("Total"), format_money(order.total, order.currency), is_total=True))
    if order.prices_include_tax:
        rows += _taxes(order, _("Included tax"))
    return rows


def _taxes(order: Order, name: str) -> list[Row]:
    if not order.tax and not order.tax_lines:
        return []
    return [
        Row(name, format_money(order.tax, order.currency), "; ".join(_tax(line, order) for line in order.tax_lines))
    ]


def _tax(line: dict[str, Any], order: Order) -> str:
    amount = format_money(Decimal(line["amount"]), order.currency)
    label = order_text.tax_label(line)
    if not line.get("base"):
        return f"{label}: {amount}"
    base = format_money(Decimal(line["base"]), order.currency)
    return _("%(tax)s on %(base)s: %(amount)s") % {"tax": label, "base": base, "amount": amount}


def people_of(shop: Shop, order: Order) -> dict[str, Any]:
    """The customer, the delivery address and the billing address."""
    bill_to = order_text.address_lines(order.billing_address)
    if order.pickup_place:
        ship_to = order_text.address_lines(
            order.pickup_place | {"name": _("Collected at %(place)s") % {"place": order.pickup_place["name"]}}
        )
    else:
        ship_to = order_text.address_lines(order.shipping_address)
    customer = order.customer_id and reverse("admin:customers_customer_change", args=[order.customer_id])
    return {
        "customer_url": customer or "",
        "name": (order.billing_address or {}).get("name", "") or (ERASED if order.erased_at else ""),
        "ship_to": ship_to,
        "bill_to": [] if bill_to == ship_to else bill_to,
        "vat": vat_of(order, shop),
        "language": dict(CHOICES)[order.language] if order.language and shop.further_languages else "",
    }


def vat_of(order: Order, shop: Shop) -> list[str]:
    """The customer's VAT ID, and the outcome of its check."""
    check = order.vat_check
    if not order.vat_id or not check:
        return [order.vat_id] if order.vat_id else []
    made = parse_datetime(check["checked_at"])
    result = {"valid": _("valid"), "invalid": _("not valid"), "unavailable": _("could not be checked")}[check["result"]]
    facts = [f"{result}, {format_time(made, shop.timezone)}", check["name"], check["consultation_number"]]
    return [order.vat_id, *filter(None, facts)]


def source_of(order: Order) -> list[tuple[str, str]]:
    """The data of the integration that brought the order, as (name, value); empty without one."""
    facts = [(_("Reference"), order.client_reference), (_("Return URL"), order.return_url)]
    facts.append((_("Cart of the checkout link"), str(order.checkout_link or "")))
    facts += [(name, str(value)) for name, value in sorted(order.metadata.items())]
    return (
        [(name, value) for name, value in facts if value]
        if order.checkout_link or len(facts) > 3 or facts[0][1]
        else []
    )


def downloads_of(shop: Shop, downloads: Iterable[Download]) -> list[dict[str, str]]:
    return [
        {
            "name": row.name,
            "count": _("%(used)s of %(most)s") % {"used": row.used, "most": row.max_downloads}
            if row.max_downloads
            else format_count(row.used),
            "last": format_time(row.begun_at, shop.timezone) or _("never"),
            "ends": _ends(row, shop),
        }
        for row in downloads
    ]


def _ends(row: Download, shop: Shop) -> str:
    if row.expires_at is None and row.expiry_days:
        return _("%(days)s days after the payment") % {"days": format_count(row.expiry_days)}
    return format_time(row.expires_at, shop.timezone) or _("never")


def fulfilments_of(shop: Shop, order: Order, fulfilments: Iterable[Fulfilment]) -> list[dict[str, Any]]:
    slip = reverse("admin:orders_order_packing_slip", args=[order.pk])
    return [
        {
            "row": row,
            "pieces": ", ".join(str(line) for line in row.lines.all()),
            "made": format_time(row.created_at, shop.timezone),
            "tracking": row.tracking_number or (row.tracking_url and _("Track the parcel")),
            "slip": "" if row.cancelled_at else f"{slip}?fulfilment={row.pk}",
        }
        for row in fulfilments
    ]

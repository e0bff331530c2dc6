"""Erases the customer from an order. Its figures, taxes, items, country and postal code remain, since the law requires
it (docs/privacy.md). The caller has locked the order.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from storefront.orders.actions import record_updated
from storefront.orders.models import Order, OrderLine, OrderWord
from storefront.orders.words import keep_words
from storefront.pricing.taxes import REVERSE_CHARGE
from storefront.shops.audit_triggers import ERASED
from storefront.shops.models import Shop

KEPT_OF_ADDRESS = ("country", "postal_code")
# Columns with texts about the person, or with free texts that may be about them.
_TEXTS = (
    *("email", "phone", "note", "shopper_note", "cancel_reason"),
    *("return_url", "cancel_url", "client_reference"),
)


def what_is_open(order: Order) -> str:
    """The reason why the order's customer is still needed; empty if there is none."""
    if order.status == Order.Status.CANCELLED:
        return ""
    if order.payment_status == Order.PaymentStatus.PENDING:
        return "is not paid"
    return "is not sent completely" if order.status == Order.Status.OPEN else ""


def erase_order(*, shop: Shop, order: Order, now: datetime) -> None:
    """Erase the customer of a locked order, its mails and its downloads. Emits `order.updated`."""
    for name in _TEXTS:
        setattr(order, name, "")
    if not any(line.get("treatment") == REVERSE_CHARGE for line in order.tax_lines):
        order.vat_id, order.vat_check = "", None
    elif order.vat_check:
        order.vat_check = order.vat_check | {"name": None}
    order.customer, order.tags, order.metadata = None, [], {}
    order.shipping_address = _without_person(order.shipping_address)
    order.billing_address = _without_person(order.billing_address) or {}
    order.erased_at = order.updated_at = now
    order.shop = shop
    order.save()
    lines = list(order.lines.all())
    for line in lines:
        line.options = [each if each.get("value_id") else each | {"value": ERASED} for each in line.options]
        line.custom_fields = []
        line.gift_card = without_recipient(line.gift_card)
    OrderLine.objects.bulk_update(lines, ["options", "custom_fields", "gift_card"])
    order.fulfilments.update(tracking_number="", tracking_url="")
    order.mails.all().delete()
    order.downloads.all().delete()
    OrderWord.objects.filter(shop=shop, order=order).delete()
    keep_words([(order, lines)])
    record_updated(shop=shop, order=order, now=now)


def erase_recipient(*, shop: Shop, lines: Collection[int]) -> None:
    """Erase the recipients of gift cards, and the messages to them, from these lines of any orders."""
    rows = list(OrderLine.objects.filter(shop=shop, pk__in=lines, gift_card__isnull=False))
    for line in rows:
        line.gift_card = without_recipient(line.gift_card)
    OrderLine.objects.bulk_update(rows, ["gift_card"])


def without_recipient(card: dict[str, Any] | None) -> dict[str, Any] | None:
    return card and {name: text for name, text in card.items() if name != "giver"} | {
        "recipient_email": "",
        "message": "",
    }


def _without_person(address: dict[str, Any] | None) -> dict[str, Any] | None:
    return address and {name: text if name in KEPT_OF_ADDRESS else "" for name, text in address.items()}

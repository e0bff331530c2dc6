"""A signed summary of what the payment page shows. The page's form holds it and sends it back with the order, so that a
shopper never orders anything else than what they saw (R-LINK-16).

Threats: between page and click, an integration, another device or another tab changes items, address or prices, with or
without changing the total. So everything that the page shows is compared, and the page names the differences. The copy
in the form is signed for its checkout, so that the named differences are true. Where no text is needed, it holds
digests.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.core import signing
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.carts.models import CartLine
from storefront.checkout import queries
from storefront.checkout.models import Checkout
from storefront.checkout.queries import Quote, pickup_record
from storefront.kit.clock import timestamp
from storefront.kit.format import format_money
from storefront.pricing.discounts import DiscountLine
from storefront.shops.models import Shop

# Characters of a line's name: enough to recognise the line.
_NAME = 120

_CONTACT = {
    "email": gettext_lazy("The email address changed."),
    "phone": gettext_lazy("The phone number changed."),
    "shipping_address": gettext_lazy("The delivery address changed."),
    "billing_address": gettext_lazy("The billing address changed."),
    "vat_id": gettext_lazy("The VAT ID or its check changed."),
}
_ADDED = {
    "delivery": gettext_lazy("The delivery %(name)s (%(amount)s) was added."),
    "discounts": gettext_lazy("The discount %(name)s (%(amount)s) was added."),
    "taxes": gettext_lazy("The tax %(name)s (%(amount)s) was added."),
    "gift_cards": gettext_lazy("The gift card %(name)s (%(amount)s) was added."),
}
_CHANGED = {
    "delivery": gettext_lazy("The delivery %(name)s changed from %(old)s to %(new)s."),
    "discounts": gettext_lazy("The discount %(name)s changed from %(old)s to %(new)s."),
    "taxes": gettext_lazy("The tax %(name)s changed from %(old)s to %(new)s."),
    "gift_cards": gettext_lazy("The gift card %(name)s changed from %(old)s to %(new)s."),
}
_REMOVED = {
    "delivery": gettext_lazy("The delivery %(name)s (%(amount)s) was removed."),
    "discounts": gettext_lazy("The discount %(name)s (%(amount)s) was removed."),
    "taxes": gettext_lazy("The tax %(name)s (%(amount)s) was removed."),
    "gift_cards": gettext_lazy("The gift card %(name)s (%(amount)s) was removed."),
}


@dataclass(frozen=True)
class OrderSummary:
    """The contents of the payment page. Amounts are strings; addresses and other long values are digests.

    Each of `lines` is key, name, quantity, price, and a digest of the rest of the line. Each of `delivery`,
    `discounts`, `taxes` and `gift_cards` is a name and an amount.
    """

    currency: str
    lines: list[list[Any]]
    email: str
    phone: str
    shipping_address: str
    billing_address: str
    vat_id: str
    delivery: list[list[str]]
    delivery_terms: str
    discounts: list[list[str]]
    taxes: list[list[str]]
    prices_include_tax: bool
    total: str
    gift_cards: list[list[str]]
    amount_due: str

    @property
    def amount(self) -> Decimal:
        """The amount that the shopper agrees to pay through a provider."""
        return Decimal(self.amount_due)


def summarise(shop: Shop, checkout: Checkout, quote: Quote) -> OrderSummary:
    totals, delivery = quote.totals, quote.delivery
    same = quote.is_shipped and not checkout.billing_address
    return OrderSummary(
        currency=shop.currency,
        lines=[_line(line) for line in quote.lines],
        email=_digest(checkout.email),
        phone=_digest(checkout.phone),
        shipping_address=_digest(checkout.shipping_address if quote.is_shipped else None),
        billing_address=_digest(None if same else queries.billing_address(checkout)),
        vat_id=_digest([checkout.vat_id, checkout.vat_check]),
        delivery=[[delivery.name, _wire(delivery.price)]] if delivery else [],
        delivery_terms=_digest([delivery.time if delivery else "", quote.pickup and pickup_record(quote.pickup)]),
        discounts=[[_named(line), _wire(line.amount)] for line in totals.discount_lines],
        taxes=[[tax.label, _wire(tax.amount)] for tax in totals.tax_lines],
        prices_include_tax=totals.prices_include_tax,
        total=_wire(totals.total),
        gift_cards=[[f"…{card.last_four}", _wire(card.amount)] for card in totals.gift_cards if card.amount],
        amount_due=_wire(totals.amount_due),
    )


def seal(summary: OrderSummary, checkout: Checkout) -> str:
    """The signed summary for the page's form."""
    return signing.dumps(asdict(summary), salt=_salt(checkout), compress=True)


def unseal(given: str, checkout: Checkout) -> OrderSummary | None:
    """The summary from a form; None if it was not signed here, or for another checkout."""
    try:
        return OrderSummary(**signing.loads(given, salt=_salt(checkout)))
    except (signing.BadSignature, TypeError):
        return None


def differences(before: OrderSummary, now: OrderSummary) -> list[str]:
    """The differences, a sentence each; empty if there are none."""
    if before == now:
        return []
    if before.currency != now.currency:
        return [_("The currency changed.")]
    return [*_differences(before, now)] or [_("Something else in your order changed.")]


def _differences(before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    yield from _line_differences(before, now)
    for name, sentence in _CONTACT.items():
        if getattr(before, name) != getattr(now, name):
            yield str(sentence)
    for name in _ADDED:
        yield from _amount_differences(name, before, now)
    if before.delivery_terms != now.delivery_terms and before.delivery == now.delivery:
        yield _("The delivery time or the pick-up place changed.")
    if before.prices_include_tax != now.prices_include_tax:
        yield _("Prices now include tax.") if now.prices_include_tax else _("Prices no longer include tax.")
    if before.total != now.total:
        totals = {"old": _money(before, before.total), "new": _money(now, now.total)}
        yield _("The total changed from %(old)s to %(new)s.") % totals
    if before.amount_due != now.amount_due and now.gift_cards != before.gift_cards:
        due = {"old": _money(before, before.amount_due), "new": _money(now, now.amount_due)}
        yield _("The amount to pay changed from %(old)s to %(new)s.") % due


def _line_differences(before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    old, new = ({line[0]: line for line in summary.lines} for summary in (before, now))
    for key, line in new.items():
        if key in old:
            yield from _changes_of_line(old[key], line, before, now)
        else:
            yield _("%(name)s was added.") % {"name": line[1]}
    for key, line in old.items():
        if key not in new:
            yield _("%(name)s was removed.") % {"name": line[1]}


def _changes_of_line(old: list[Any], new: list[Any], before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    (old_name, old_qty, old_price, old_more), (name, qty, price, more) = old[1:], new[1:]
    if name != old_name:
        yield _("%(old)s is now %(new)s.") % {"old": old_name, "new": name}
    if qty != old_qty:
        given = {"name": name, "old": old_qty, "new": qty}
        yield _("The quantity of %(name)s changed from %(old)s to %(new)s.") % given
    if price != old_price:
        given = {"name": name, "old": _money(before, old_price), "new": _money(now, price)}
        yield _("The price of %(name)s changed from %(old)s to %(new)s.") % given
    if more != old_more and name == old_name:
        yield _("The options or contents of %(name)s changed.") % {"name": name}


def _amount_differences(field: str, before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    """Named amounts that were added, removed or changed."""
    old, new = dict(getattr(before, field)), dict(getattr(now, field))
    if field == "delivery" and old and new and old.keys() != new.keys():
        given = {"old": " ".join(old), "new": " ".join(new)}
        yield _("The delivery changed from %(old)s to %(new)s.") % given
        return
    for name, amount in new.items():
        if name not in old:
            yield _ADDED[field] % {"name": name, "amount": _money(now, amount)}
        elif old[name] != amount:
            given = {"name": name, "old": _money(before, old[name]), "new": _money(now, amount)}
            yield _CHANGED[field] % given
    for name, amount in old.items():
        if name not in new:
            yield _REMOVED[field] % {"name": name, "amount": _money(before, amount)}


def _line(line: CartLine) -> list[Any]:
    more = [
        line.name_snapshot,
        [[option["name"], option["value"]] for option in line.options],
        [[field["name"], field["value"]] for field in line.custom_fields],
        [[item["qty"], item["name"]] for item in line.bundle_items],
        line.is_damaged,
        line.gift_card,
        timestamp(line.available_from),
    ]
    return [line.key, line.name_snapshot[:_NAME], line.qty, _wire(line.price_snapshot), _digest(more)]


def _named(line: DiscountLine) -> str:
    return f"{line.name} ({line.code})" if line.code else line.name


def _wire(amount: Decimal) -> str:
    return f"{amount:.2f}"


def _digest(value: Any) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _money(summary: OrderSummary, amount: str) -> str:
    return format_money(Decimal(amount), summary.currency)


def _salt(checkout: Checkout) -> str:
    return f"storefront.checkout.shown:{checkout.public_id}"

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
    "email": "The email address changed.",
    "phone": "The phone number changed.",
    "shipping_address": "The delivery address changed.",
    "billing_address": "The billing address changed.",
    "vat_id": "The VAT ID or its check changed.",
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
        return ["The currency changed."]
    return [*_differences(before, now)] or ["Something else in your order changed."]


def _differences(before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    yield from _line_differences(before, now)
    for name, sentence in _CONTACT.items():
        if getattr(before, name) != getattr(now, name):
            yield sentence
    for name in ("delivery", "discounts", "taxes", "gift_cards"):
        yield from _amount_differences(name, before, now)
    if before.delivery_terms != now.delivery_terms and before.delivery == now.delivery:
        yield "The delivery time or the pick-up place changed."
    if before.prices_include_tax != now.prices_include_tax:
        yield f"Prices {'now' if now.prices_include_tax else 'no longer'} include tax."
    if before.total != now.total:
        yield f"The total changed from {_money(before, before.total)} to {_money(now, now.total)}."
    if before.amount_due != now.amount_due and now.gift_cards != before.gift_cards:
        due = _money(before, before.amount_due), _money(now, now.amount_due)
        yield f"The amount to pay changed from {due[0]} to {due[1]}."


def _line_differences(before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    old, new = ({line[0]: line for line in summary.lines} for summary in (before, now))
    for key, (_, name, qty, price, more) in new.items():
        if key not in old:
            yield f"{name} was added."
            continue
        _, old_name, old_qty, old_price, old_more = old[key]
        if name != old_name:
            yield f"{old_name} is now {name}."
        if qty != old_qty:
            yield f"The quantity of {name} changed from {old_qty} to {qty}."
        if price != old_price:
            yield f"The price of {name} changed from {_money(before, old_price)} to {_money(now, price)}."
        if more != old_more and name == old_name:
            yield f"The options or contents of {name} changed."
    for key, line in old.items():
        if key not in new:
            yield f"{line[1]} was removed."


def _amount_differences(field: str, before: OrderSummary, now: OrderSummary) -> Iterator[str]:
    """Named amounts that were added, removed or changed."""
    what = {"delivery": "delivery", "discounts": "discount", "taxes": "tax", "gift_cards": "gift card"}[field]
    old, new = dict(getattr(before, field)), dict(getattr(now, field))
    if field == "delivery" and old and new and old.keys() != new.keys():
        yield f"The delivery changed from {' '.join(old)} to {' '.join(new)}."
        return
    for name, amount in new.items():
        if name not in old:
            yield f"The {what} {name} ({_money(now, amount)}) was added."
        elif old[name] != amount:
            yield f"The {what} {name} changed from {_money(before, old[name])} to {_money(now, amount)}."
    for name, amount in old.items():
        if name not in new:
            yield f"The {what} {name} ({_money(before, amount)}) was removed."


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

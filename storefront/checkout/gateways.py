"""Payment gateways: authorise, capture, void and refund payments.

Each of the four may wait on a network, so none is called inside a transaction.
"""

import re
import secrets
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from django.views.decorators.debug import sensitive_variables

from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop


class PaymentDeclined(Refusal):
    """The gateway declined the authorisation; no order was placed and nothing was charged."""

    code = "payment_declined"
    message = "The payment was declined. Nothing was charged. Please try another card or payment method."


@dataclass(frozen=True, repr=False)
class Card:
    """Card data, passed to a gateway only. Without a repr, so that logs and error reports do not contain them."""

    number: str
    expiry: date
    cvc: str


@dataclass(frozen=True)
class Authorisation:
    """An authorised payment. `is_held`: the gateway holds the money until capture or void."""

    gateway: str
    amount: Decimal
    currency: str
    reference: str = ""
    is_held: bool = False


@dataclass(frozen=True)
class RefundRequest:
    """A refund of the payment with the gateway's id `reference`. `key` is the idempotency key."""

    key: str
    reference: str
    amount: Decimal
    currency: str


class RefundDeclined(Refusal):
    """The gateway declined the refund. Retrying is useless."""

    code = "refund_declined"
    message = "The payment gateway declined the refund."


class Gateway(Protocol):
    """A payment gateway. Shoppers see `label` and `hint`; `takes_card` adds the card form to the payment page."""

    name: str
    label: str
    hint: str
    takes_card: bool

    def authorise(self, *, shop: Shop, amount: Decimal, card: Card | None) -> Authorisation:
        """Authorise the amount. Raises PaymentDeclined."""
        ...

    def capture(self, authorisation: Authorisation) -> None:
        """Take the authorised money. Idempotent."""
        ...

    def void(self, authorisation: Authorisation) -> None:
        """Release the authorised money. Idempotent."""
        ...

    def refund(self, refund: RefundRequest) -> str:
        """Refund all or part of a captured payment. Returns the gateway's id for the refund; empty if it has none.

        Idempotent by `key`: a repeated call moves no money and returns the same id. Raises RefundDeclined.
        """
        ...


class Manual:
    """Invoice, bank transfer or cash: the shop gives instructions, and later marks the order as paid."""

    name = "manual"
    label = "Invoice or bank transfer"
    hint = "We will send the payment details with your order confirmation."
    takes_card = False

    def authorise(self, *, shop: Shop, amount: Decimal, card: Card | None) -> Authorisation:
        return Authorisation(self.name, amount, shop.currency)

    def capture(self, authorisation: Authorisation) -> None:
        """Nothing is held."""

    def void(self, authorisation: Authorisation) -> None:
        """Nothing is held."""

    def refund(self, refund: RefundRequest) -> str:
        """The shop refunds the money itself; here it is only recorded."""
        return ""


class Demo:
    """The card form of a demo shop. It accepts or declines three test cards and never charges anybody."""

    name = "demo"
    label = "Card (demo)"
    hint = "No real payment is made."
    takes_card = True

    PAYS = "4242424242424242"
    DECLINES = {
        "4000000000000002": "The card was declined. Nothing was charged. Please try another card.",
        "4000000000009995": "The card has insufficient funds. Nothing was charged. Please try another card.",
    }

    @sensitive_variables("card")
    def authorise(self, *, shop: Shop, amount: Decimal, card: Card | None) -> Authorisation:
        number = card.number if card else ""
        if number in self.DECLINES:
            raise PaymentDeclined(self.DECLINES[number])
        if number != self.PAYS:
            # A real card must not seem to work.
            raise PaymentDeclined("The demo accepts only the test cards shown below.")
        return Authorisation(self.name, amount, shop.currency, f"demo_{secrets.token_hex(12)}", is_held=True)

    def capture(self, authorisation: Authorisation) -> None:
        """No real payment is made."""

    def void(self, authorisation: Authorisation) -> None:
        """No real payment is made."""

    def refund(self, refund: RefundRequest) -> str:
        """No money moves. The id depends on the key alone, so that a repeated call returns the same."""
        return f"demo_refund_{refund.key}"


GATEWAYS: dict[str, Gateway] = {gateway.name: gateway for gateway in (Manual(), Demo())}


def offered_gateways(shop: Shop) -> list[Gateway]:
    """The shop's payment methods, in its order."""
    return [GATEWAYS[name] for name in shop.payment_methods if name in GATEWAYS]


def is_card_number(text: str) -> bool:
    """Whether the digits have a card number's length and pass the Luhn check."""
    if not re.fullmatch(r"[0-9]{12,19}", text):
        return False
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(text)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0

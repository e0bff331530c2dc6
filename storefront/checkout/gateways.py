"""Payment gateways: promise money (authorise), take it (capture), let it go (void), or give it back (refund).

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
    """The payment was not promised; nothing was sold and nothing was charged."""

    code = "payment_declined"
    message = "The payment was declined. Nothing was charged. Please try another card or another way to pay."


@dataclass(frozen=True, repr=False)
class Card:
    """What a card form holds, on its way to a gateway and nowhere else; it does not even print itself."""

    number: str
    expiry: date
    cvc: str


@dataclass(frozen=True)
class Authorisation:
    """A promise of money. `is_held`: the gateway holds it and waits for capture or void."""

    gateway: str
    amount: Decimal
    currency: str
    reference: str = ""
    is_held: bool = False


@dataclass(frozen=True)
class Repayment:
    """Money to give back of the payment that the gateway calls `reference`. `key` names this refund and no other."""

    key: str
    reference: str
    amount: Decimal
    currency: str


class RefundDeclined(Refusal):
    """The gateway will not give the money back, however often it is asked."""

    code = "refund_declined"
    message = "The gateway declined the refund."


class Gateway(Protocol):
    """A way to pay. `label` and `hint` are for shoppers; `takes_card` asks for a card on the shop's own form."""

    name: str
    label: str
    hint: str
    takes_card: bool

    def authorise(self, *, shop: Shop, amount: Decimal, card: Card | None) -> Authorisation:
        """Have the amount promised. Raises PaymentDeclined."""
        ...

    def capture(self, authorisation: Authorisation) -> None:
        """Take what was promised. Again for the same authorisation changes nothing."""
        ...

    def void(self, authorisation: Authorisation) -> None:
        """Let go of what was promised. Again for the same authorisation changes nothing."""
        ...

    def refund(self, repayment: Repayment) -> str:
        """Give back part of what was taken; the gateway's own name for that, empty where it has none. Again under the
        same key gives nothing more, and has the same answer. Raises RefundDeclined."""
        ...


class Manual:
    """Invoice, bank transfer or cash: the shop tells how, and says later that the money came."""

    name = "manual"
    label = "Invoice or bank transfer"
    hint = "You get the payment details with your order confirmation."
    takes_card = False

    def authorise(self, *, shop: Shop, amount: Decimal, card: Card | None) -> Authorisation:
        return Authorisation(self.name, amount, shop.currency)

    def capture(self, authorisation: Authorisation) -> None:
        """Nothing is held, so nothing is taken."""

    def void(self, authorisation: Authorisation) -> None:
        """Nothing is held, so nothing is let go."""

    def refund(self, repayment: Repayment) -> str:
        """The shop gives the money back the way it came; here that is only written down."""
        return ""


class Demo:
    """The card form of a demonstration shop. It knows three test cards and never charges anybody."""

    name = "demo"
    label = "Card (demonstration)"
    hint = "No money moves."
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
            # Somebody's real card must not seem to work here.
            raise PaymentDeclined("This demonstration takes only the test cards shown below.")
        return Authorisation(self.name, amount, shop.currency, f"demo_{secrets.token_hex(12)}", is_held=True)

    def capture(self, authorisation: Authorisation) -> None:
        """No money moves."""

    def void(self, authorisation: Authorisation) -> None:
        """No money moves."""

    def refund(self, repayment: Repayment) -> str:
        """No money moves. The same key has the same name, as it would have at a gateway that keeps them."""
        return f"demo_refund_{repayment.key}"


GATEWAYS: dict[str, Gateway] = {gateway.name: gateway for gateway in (Manual(), Demo())}


def offered_gateways(shop: Shop) -> list[Gateway]:
    """What the shop lets its shoppers pay with, in its order."""
    return [GATEWAYS[name] for name in shop.payment_methods if name in GATEWAYS]


def is_card_number(text: str) -> bool:
    """Whether the digits have a card number's length and pass the Luhn check."""
    if not re.fullmatch(r"[0-9]{12,19}", text):
        return False
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(text)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0

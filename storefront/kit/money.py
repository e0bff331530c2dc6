"""Money: Decimal with two fraction digits inside, a decimal string on the wire, never a float (R-CALL-2).

Amounts are whole units of their currency, which for some is not a hundredth: yen have no decimals.
"""

import re
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext as _

from storefront.kit.currencies import decimals

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
MAX_AMOUNT = Decimal("999999999999.99")

_MONEY = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?\Z")


def unit(currency: str) -> Decimal:
    """The smallest amount of the currency: 0.01 euros, 1 yen. Also 0.01 for a currency with more decimals, which old
    shops may have."""
    return CENT if decimals(currency) else Decimal(1)


def quantize(amount: Decimal, currency: str) -> Decimal:
    """The amount in whole units of its currency, halves rounded away from zero as on an invoice."""
    return amount.quantize(unit(currency), rounding=ROUND_HALF_UP).quantize(CENT)


def problem_of(amount: Decimal, currency: str) -> str:
    """The reason why the currency does not have this amount, as a phrase that follows the amount's name; empty if it
    has."""
    is_unit = decimals(currency) > 0 or amount == amount.to_integral_value()
    return "" if is_unit else _("must be a whole number: %(currency)s has no decimals") % {"currency": currency}


def to_wire(amount: Decimal | float | None) -> str | None:
    """`Decimal("12.5")` as `"12.50"`; None stays None."""
    return None if amount is None else f"{amount:.2f}"


def parse(text: str) -> Decimal:
    """Parse a decimal string with at most two fraction digits. Raises ValueError."""
    if not isinstance(text, str) or not _MONEY.match(text):
        raise ValueError('must be a decimal string such as "12.50"')
    return Decimal(text).quantize(CENT)

"""ISO 4217's currencies and their decimals, in which amounts are charged.

Babel has the decimals of CLDR instead, which people write: none for Serbian dinars, although hundredths are charged.
"""

from django.utils.translation import gettext as _
from iso4217 import Currency

# Decimals by code. None: not money, such as gold or XXX.
_DECIMALS: dict[str, int | None] = {currency.code: currency.exponent for currency in Currency}
# Every column and the API have two fraction digits.
MAX_DECIMALS = 2


def decimals(currency: str) -> int:
    """The number of fraction digits of this currency: 0 for JPY, 2 for EUR, 3 for KWD. Two for a code that ISO 4217
    does not list, or no longer lists."""
    found = _DECIMALS.get(currency)
    return MAX_DECIMALS if found is None else found


def problem_of(currency: str) -> str:
    """The reason why a shop cannot sell in this currency, as a sentence; empty if it can."""
    if currency not in _DECIMALS:
        return _("Expected an ISO 4217 code such as EUR.")
    found = _DECIMALS[currency]
    if found is None:
        return _("%(currency)s is not a currency that anybody can pay in. Choose one such as EUR.") % {
            "currency": currency
        }
    if found > MAX_DECIMALS:
        return _(
            "Amounts in %(currency)s have %(found)s decimals. Only currencies with at most %(most)s can be used."
        ) % {"currency": currency, "found": found, "most": MAX_DECIMALS}
    return ""

"""ISO 4217's currencies and their decimals, which are what is charged.

Babel's are those of CLDR, which are what people write: none for Serbian dinars, of which hundredths are charged.
"""

from iso4217 import Currency

# By code. None: not money, such as gold or XXX.
_DECIMALS: dict[str, int | None] = {currency.code: currency.exponent for currency in Currency}
# Every column and the API have two fraction digits.
MAX_DECIMALS = 2


def decimals(currency: str) -> int:
    """How many fraction digits amounts of this currency have: 0 of JPY, 2 of EUR, 3 of KWD. Of what ISO 4217 does not
    list, or no longer, two."""
    found = _DECIMALS.get(currency)
    return MAX_DECIMALS if found is None else found


def problem_of(currency: str) -> str:
    """Why a shop cannot sell in this currency, as a sentence; empty if it can."""
    if currency not in _DECIMALS:
        return "Expected an ISO 4217 code such as EUR."
    found = _DECIMALS[currency]
    if found is None:
        return f"{currency} is not a currency that anybody can pay in. Choose one such as EUR."
    if found > MAX_DECIMALS:
        return f"Amounts in {currency} have {found} decimals. Only currencies with at most {MAX_DECIMALS} can be used."
    return ""

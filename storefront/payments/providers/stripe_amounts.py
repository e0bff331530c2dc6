"""Amounts as Stripe counts them: whole numbers of a currency's smallest unit (docs.stripe.com/currencies)."""

from decimal import Decimal

from storefront.kit.money import CENT
from storefront.payments.providers.base import ProviderRefused

ZERO_DECIMALS = frozenset(
    ["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"]
)
THREE_DECIMALS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
# Counted in hundredths as most are, but only whole ones can be charged.
WHOLE = frozenset(["ISK"])
# Stripe's documentation counts it both in whole shillings and in hundredths. One of them would charge a hundredfold.
CONTRADICTED = frozenset(["UGX"])


def to_units(amount: Decimal, currency: str) -> int:
    """`12.50` EUR as 1250, `1250.00` JPY as 1250. Raises ProviderRefused for an amount that Stripe cannot charge."""
    if currency in CONTRADICTED:
        raise ProviderRefused(f"Payments in {currency} through Stripe are not supported.")
    units = amount.scaleb(_decimals(currency))
    step = 100 if currency in WHOLE else 1
    if units % step:
        raise ProviderRefused(
            f"Stripe charges no fractions of {currency}, so it cannot charge {amount:.2f} {currency}."
        )
    return int(units)


def from_units(units: int, currency: str) -> Decimal:
    """1250 as `12.50` EUR or `1250.00` JPY."""
    return Decimal(units).scaleb(-_decimals(currency)).quantize(CENT)


def _decimals(currency: str) -> int:
    return 0 if currency in ZERO_DECIMALS else 3 if currency in THREE_DECIMALS else 2

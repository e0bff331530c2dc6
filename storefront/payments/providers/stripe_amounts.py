"""Amounts as Stripe counts them: whole numbers of a currency's smallest unit (docs.stripe.com/currencies)."""

from decimal import Decimal

from storefront.kit.money import CENT, ZERO
from storefront.payments import alerts
from storefront.payments.providers.base import ProviderRefused

ZERO_DECIMALS = frozenset(
    ["BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"]
)
THREE_DECIMALS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
# Counted in hundredths as most are, but only whole ones can be charged.
WHOLE = frozenset(["ISK"])
# UGX: Stripe's documentation counts it both in whole shillings and in hundredths. One of them would charge a
# hundredfold. MGA: Stripe has no decimals for it, and ISO 4217 two, so not every amount could be charged.
CONTRADICTED = frozenset(["UGX", "MGA"])
# The smallest payments that Stripe takes, where its documentation says so
# (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts).
MINIMUMS = {
    "AED": Decimal("2.00"),
    "AUD": Decimal("0.50"),
    "BGN": Decimal("1.00"),
    "BRL": Decimal("0.50"),
    "CAD": Decimal("0.50"),
    "CHF": Decimal("0.50"),
    "CZK": Decimal("15.00"),
    "DKK": Decimal("2.50"),
    "EUR": Decimal("0.50"),
    "GBP": Decimal("0.30"),
    "HKD": Decimal("4.00"),
    "HUF": Decimal("175.00"),
    "INR": Decimal("0.50"),
    "JPY": Decimal("50.00"),
    "MXN": Decimal("10.00"),
    "MYR": Decimal("2.00"),
    "NOK": Decimal("3.00"),
    "NZD": Decimal("0.50"),
    "PLN": Decimal("2.00"),
    "RON": Decimal("2.00"),
    "SEK": Decimal("3.00"),
    "SGD": Decimal("0.50"),
    "THB": Decimal("10.00"),
    "USD": Decimal("0.50"),
}


def minimum_of(currency: str) -> Decimal | None:
    """The smallest payment in this currency; None if it cannot be charged. Zero where Stripe does not say."""
    return None if currency in CONTRADICTED else MINIMUMS.get(currency, ZERO)


def to_units(amount: Decimal, currency: str) -> int:
    """`12.50` EUR as 1250, `1250.00` JPY as 1250. Raises ProviderRefused for an amount that Stripe cannot charge."""
    if currency in CONTRADICTED:
        raise ProviderRefused(alerts.STRIPE_NOT_IN % {"currency": currency})
    units = amount.scaleb(_decimals(currency))
    step = 100 if currency in WHOLE else 1
    if units % step:
        raise ProviderRefused(alerts.STRIPE_FRACTIONS % {"currency": currency, "amount": f"{amount:.2f}"})
    return int(units)


def from_units(units: int, currency: str) -> Decimal:
    """1250 as `12.50` EUR or `1250.00` JPY."""
    return Decimal(units).scaleb(-_decimals(currency)).quantize(CENT)


def _decimals(currency: str) -> int:
    return 0 if currency in ZERO_DECIMALS else 3 if currency in THREE_DECIMALS else 2

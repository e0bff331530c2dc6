"""Splits an amount over lines, in whole units of its currency that add up."""

from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal

from storefront.kit.money import CENT, ZERO, unit

HUNDRED = Decimal(100)


def share_out(amount: Decimal, weights: Sequence[Decimal], currency: str) -> list[Decimal]:
    """Split the amount in proportion to the weights, in whole units of the currency that add up to it exactly.

    No share exceeds its weight unless the amount exceeds the sum of the weights. If all weights are 0, the shares are
    equal.
    """
    if not weights:
        return []
    if not any(weights):
        weights = [CENT] * len(weights)
    whole, least = sum(weights, ZERO), unit(currency)
    exact = [amount * weight / whole for weight in weights]
    shares = [share.quantize(least, rounding=ROUND_DOWN).quantize(CENT) for share in exact]
    units_left = int((amount - sum(shares, ZERO)) / least)
    by_remainder = sorted(range(len(shares)), key=lambda i: (shares[i] - exact[i], i))
    for i in by_remainder[:units_left]:
        shares[i] += least
    return shares

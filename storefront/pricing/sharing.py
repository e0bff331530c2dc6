"""Splits an amount over lines, in whole cents that add up."""

from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal

from storefront.kit.money import CENT, ZERO

HUNDRED = Decimal(100)


def share_out(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Split the amount in proportion to the weights, in whole cents that add up to it exactly.

    No share exceeds its weight unless the amount exceeds the sum of the weights. If all weights are 0, the shares are
    equal.
    """
    if not weights:
        return []
    if not any(weights):
        weights = [CENT] * len(weights)
    whole = sum(weights, ZERO)
    exact = [amount * weight / whole for weight in weights]
    shares = [share.quantize(CENT, rounding=ROUND_DOWN) for share in exact]
    cents_left = int((amount - sum(shares, ZERO)) / CENT)
    by_remainder = sorted(range(len(shares)), key=lambda i: (shares[i] - exact[i], i))
    for i in by_remainder[:cents_left]:
        shares[i] += CENT
    return shares

"""Calculates prices without tax in a shop whose prices are entered with tax: for business customers, and for orders
without tax.

The tax that an entered price contains is that of the shop's own country, wherever the order goes, so a net price is
the same for every address. Discounts are found at the entered prices, so that minimums and amounts mean the same for
everybody, and then converted like the lines that they are on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from storefront.kit.money import ZERO, quantize
from storefront.pricing.discounts import Applied, PricedLine
from storefront.pricing.taxes import TaxTerms, delivery_due, delivery_weights, included_in
from storefront.shops.models import Shop


@dataclass(frozen=True, slots=True)
class NetPrices:
    """Lines, their discounts and the delivery without tax. `delivery_part` is the net part of a delivery's price."""

    lines: tuple[PricedLine, ...]
    applied: Applied
    delivery_part: Decimal


def at_net_prices(lines: Sequence[PricedLine], applied: Applied, terms: TaxTerms, currency: str) -> NetPrices:
    net = tuple(replace(line, amount=net_price(line, terms, currency) * line.qty) for line in lines)
    applied = _net_discounts(lines, net, applied, currency)
    left = [line.amount - sum((each.shares[i] for each in applied.lines), ZERO) for i, line in enumerate(net)]
    return NetPrices(net, applied, _delivery_part(net, left, terms))


def net_price(line: PricedLine, terms: TaxTerms, currency: str) -> Decimal:
    """The price of one piece without the tax that it contains, rounded."""
    return quantize(line.amount / line.qty * included_in(line, terms).net_part, currency)


def _net_discounts(lines: Sequence[PricedLine], net: Sequence[PricedLine], applied: Applied, currency: str) -> Applied:
    """Convert the discounts to net amounts: the same part of each net line. Rounds the running sum of the discounts, so
    that together they never exceed the line, and equal it if they took off everything."""
    so_far, done = [ZERO] * len(lines), [ZERO] * len(lines)
    converted = []
    for each in applied.lines:
        shares = []
        for i, (line, to) in enumerate(zip(lines, net, strict=True)):
            so_far[i] += each.shares[i]
            off = quantize(to.amount * so_far[i] / line.amount, currency) if line.amount else ZERO
            shares.append(off - done[i])
            done[i] = off
        converted.append(replace(each, shares=tuple(shares), amount=sum(shares, ZERO)))
    by_code = {each.code: each.amount for each in converted if each.code}
    codes = tuple(replace(code, amount=by_code.get(code.code, code.amount)) for code in applied.codes)
    return Applied(tuple(converted), codes)


def _delivery_part(lines: Sequence[PricedLine], amounts: Sequence[Decimal], terms: TaxTerms) -> Decimal:
    if terms.delivery_tax == Shop.DeliveryTax.CLASS:
        return delivery_due(terms, at_home=True).net_part
    weights = delivery_weights(lines, amounts)
    if not any(weights):
        return Decimal(1)
    parts = (included_in(line, terms).for_delivery.net_part for line in lines)
    return sum((weight * part for weight, part in zip(weights, parts, strict=True)), Decimal(0)) / sum(weights, ZERO)

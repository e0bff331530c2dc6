"""Calculates the taxes on credit notes: for refunded pieces at their own rates, for an amount in proportion."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from storefront.documents.models import Document
from storefront.kit.money import ZERO, quantize, to_wire
from storefront.orders.models import Order
from storefront.payments.line_refunds import paid_for_delivery
from storefront.payments.models import Refund
from storefront.pricing.taxes import TAXED

Row = Mapping[str, Any]
# The key of a rate, and its shares by member (`amount`, `base`).
Key = tuple[str, str, str]
Shares = dict[Key, dict[str, Decimal]]


def credited_taxes(
    invoice: Document, earlier: Sequence[Document], amount: Decimal, own: Shares | None = None
) -> list[dict[str, Any]]:
    """The taxes in this amount of the invoice, in the order of its own. `own` has those of refunded pieces; without it,
    each rate's share is in proportion. Never exceeds what earlier credit notes have left; all credit notes together
    have exactly the invoice's taxes."""
    left = invoice.amount - sum((each.amount for each in earlier), ZERO)
    return [_credited(invoice, i, tax, earlier, amount / left, own) for i, tax in enumerate(invoice.record["taxes"])]


def taxes_of_pieces(order: Order, refund: Refund, amount: Decimal) -> Shares | None:
    """The taxes, by rate, in this amount of a refund of lines, in proportion to the whole refund. None for a refund of
    an amount, and for older orders whose lines have no taxes."""
    parts = list(refund.lines.select_related("line"))
    planned = sum((part.amount for part in parts), refund.shipping)
    lines = list(order.lines.all())
    if not planned or any(_sum(line.tax_lines) != line.tax for line in lines):
        return None
    found: Shares = defaultdict(lambda: {"amount": ZERO, "base": ZERO})
    for part in parts:
        taxes = part.line.tax_lines
        if len(taxes) == 1:
            # Rounded like the refund itself.
            taxes = [taxes[0] | {"amount": part.tax, "base": part.amount - part.tax}]
            _add(found, taxes, amount / planned)
        else:
            _add(found, taxes, Decimal(part.qty) / part.line.qty * amount / planned)
    if refund.shipping and (paid := paid_for_delivery(order)):
        share = refund.shipping / paid * amount / planned
        _add(found, order.tax_lines, share)
        for line in lines:
            _add(found, line.tax_lines, -share)
    return found


def _sum(taxes: Sequence[Row]) -> Decimal:
    return sum((Decimal(tax["amount"]) for tax in taxes), ZERO)


def _credited(
    invoice: Document, i: int, tax: Row, earlier: Sequence[Document], part: Decimal, own: Shares | None
) -> dict[str, Any]:
    kept = {"name": tax["name"], "percent": tax["percent"], "treatment": tax.get("treatment", TAXED)}
    mine = own.get(_key(tax), {}) if own is not None else None

    def share(member: str) -> str | None:
        if tax.get(member) is None:
            return None
        left = Decimal(tax[member]) - sum((Decimal(each.record["taxes"][i][member]) for each in earlier), ZERO)
        if part == 1:
            return to_wire(left)
        if mine is None:
            return to_wire(quantize(left * part, invoice.currency))
        given = min(max(quantize(mine.get(member, ZERO), invoice.currency), ZERO), left)
        if mine:
            # Another row of the invoice may have the same rate.
            mine[member] = mine[member] - given
        return to_wire(given)

    return kept | {"base": share("base"), "amount": share("amount")}


def _add(found: Shares, taxes: Sequence[Row], part: Decimal) -> None:
    for tax in taxes:
        for member, sum_of in found[_key(tax)].items():
            found[_key(tax)][member] = sum_of + Decimal(tax.get(member) or ZERO) * part


def _key(tax: Row) -> Key:
    return tax["name"], tax["percent"], tax.get("treatment", TAXED)

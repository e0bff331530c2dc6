"""Exports and imports a shop's delivery prices as a CSV file with a line for each price (docs/delivery.md).

An import replaces the prices of the rates that the file names, in one transaction. Of two concurrent imports, the
second waits, and its prices are the final ones.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from storefront import audit
from storefront.kit import money
from storefront.kit.files.spreadsheets import escape_formula
from storefront.kit.files.tables import UnusableTable, WrongLine, read_each, read_table
from storefront.pricing.models import ShippingRate, ShippingRateStep
from storefront.pricing.shipping import Step
from storefront.shops.models import Shop

COLUMNS = ("zone", "method", "by", "up to", "price")
FRACTION_DIGITS = {"weight": 3, "subtotal": 2, "count": 0}

Basis = ShippingRate.Basis


@dataclass
class Prices:
    """The prices of one rate in a file. `lines` are the numbers of its lines, by `up to`."""

    basis: str
    first_line: int
    steps: dict[Decimal | None, Decimal] = field(default_factory=dict)
    lines: dict[Decimal | None, int] = field(default_factory=dict)

    def ascending(self) -> list[Step]:
        return sorted(self.steps.items(), key=lambda step: (step[0] is None, step[0] or 0))


def export_rates(shop: Shop) -> Iterator[list[str]]:
    """The lines of the file, the header first, for all rates, also inactive ones."""
    yield list(COLUMNS)
    for rate in _rates(shop).prefetch_related("steps"):
        name = [escape_formula(rate.zone.name), escape_formula(rate.name), rate.basis]
        for up_to, price in _prices_of(rate):
            yield [*name, "" if up_to is None else f"{up_to.normalize():f}", f"{price:.2f}"]


@transaction.atomic
def import_rates(*, shop: Shop, content: bytes, now: datetime) -> int:
    """Replace the prices of the rates in this file. Returns how many rates it names. Raises UnusableTable for any
    problem; then nothing changed."""
    rates = list(_rates(shop).select_for_update(of=("self",), no_key=True))
    found = _read(content, rates, shop.currency)
    for rate in rates:
        if rate.pk in found:
            _replace(rate, found[rate.pk], now)
    return len(found)


def _rates(shop: Shop) -> QuerySet[ShippingRate]:
    rates = ShippingRate.objects.filter(shop=shop).select_related("zone", "shop")
    return rates.order_by("zone__name", "zone_id", "sort_order", "pk")


def _prices_of(rate: ShippingRate) -> list[Step]:
    if rate.basis == Basis.ORDER:
        return [(None, rate.price)]
    return [(step.up_to, step.price) for step in rate.steps.all()]


def _replace(rate: ShippingRate, prices: Prices, now: datetime) -> None:
    before = {"basis": rate.basis, "prices": _audited(_prices_of(rate))}
    rate.basis = prices.basis
    steps = prices.ascending()
    rate.steps.all().delete()
    if prices.basis == Basis.ORDER:
        rate.price = steps[0][1]
    else:
        rows = [ShippingRateStep(shop=rate.shop, rate=rate, up_to=up_to, price=price) for up_to, price in steps]
        ShippingRateStep.objects.bulk_create(rows)
    rate.save(update_fields=["basis", "price"])
    after = {"basis": rate.basis, "prices": _audited(steps)}
    audit.record_change(
        shop=rate.shop, action="shipping_rate.updated", object=rate, before=before, after=after, now=now
    )


def _audited(steps: list[Step]) -> list[str]:
    return [f"{'above' if up_to is None else f'up to {up_to.normalize():f}'}: {price:.2f}" for up_to, price in steps]


def _read(content: bytes, rates: list[ShippingRate], currency: str) -> dict[int, Prices]:
    """The prices of each rate by its id."""
    by_name = defaultdict(list)
    for rate in rates:
        by_name[rate.zone.name.casefold(), rate.name.casefold()].append(rate)
    found: dict[int, Prices] = {}
    lines, has_comma = read_table(content, COLUMNS)
    read_each(lines, lambda number, cells: _read_line(number, cells, by_name, found, currency, has_comma=has_comma))
    if not found:
        raise UnusableTable([_("The file has no prices.")])
    return found


def _read_line(
    number: int,
    cells: list[str],
    by_name: dict[tuple[str, str], list[ShippingRate]],
    found: dict[int, Prices],
    currency: str,
    *,
    has_comma: bool,
) -> None:
    if len(cells) != len(COLUMNS):
        raise WrongLine(
            _("has %(count)s cells instead of %(expected)s.") % {"count": len(cells), "expected": len(COLUMNS)}
        )
    zone, method, basis, up_to_text, price_text = cells
    named = by_name.get((zone.casefold(), method.casefold()), [])
    if len(named) != 1:
        text = (
            _("the zone %(zone)s has %(count)s rates named %(rate)s. Give them different names first.")
            if named
            else _("the zone %(zone)s has no rate named %(rate)s.")
        )
        raise WrongLine(text % {"zone": zone, "count": len(named), "rate": method})
    if basis not in Basis.values:
        raise WrongLine(_("“by” must be one of %(values)s.") % {"values": ", ".join(Basis.values)})
    prices = found.setdefault(named[0].pk, Prices(basis, number))
    if basis != prices.basis:
        raise WrongLine(
            _("the rate is by %(basis)s in line %(line)s. Use one of them.")
            % {"basis": prices.basis, "line": prices.first_line}
        )
    up_to = _up_to(up_to_text, basis, has_comma=has_comma)
    if up_to in prices.steps:
        raise WrongLine(_("line %(line)s has a price up to the same.") % {"line": prices.lines[up_to]})
    prices.steps[up_to], prices.lines[up_to] = _price(price_text, currency, has_comma=has_comma), number


def _up_to(text: str, basis: str, *, has_comma: bool) -> Decimal | None:
    if not text:
        return None
    if basis == Basis.ORDER:
        raise WrongLine(_("“up to” must be empty for one price for every order."))
    digits = FRACTION_DIGITS[basis]
    number = text.replace(",", ".") if has_comma else text
    if not re.fullmatch(r"[0-9]{1,9}" + (rf"(\.[0-9]{{1,{digits}}})?" if digits else ""), number):
        wrong = (
            _("“up to” must be a number with at most %(digits)s decimals, not %(text)s.")
            if digits
            else _("“up to” must be a whole number, not %(text)s.")
        )
        raise WrongLine(wrong % {"digits": digits, "text": text})
    return Decimal(number)


def _price(text: str, currency: str, *, has_comma: bool) -> Decimal:
    try:
        price = money.parse(text.replace(",", ".") if has_comma else text)
    except (ValueError, InvalidOperation):
        raise WrongLine(
            _("the price must be an amount such as 4.90, not %(text)s.") % {"text": text or _("empty")}
        ) from None
    if problem := money.problem_of(price, currency):
        raise WrongLine(_("the price %(problem)s, not %(text)s.") % {"problem": problem, "text": text})
    return price

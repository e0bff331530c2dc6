"""Tax rules, without database or clock: the rates of a line, and the amounts of tax (docs/prices.md).

Amounts are Decimal in whole units of the shop's currency; addresses are those of a checkout.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.utils.translation import gettext_lazy

from storefront.kit.format import format_percent
from storefront.kit.money import ZERO, quantize
from storefront.pricing.discounts import PricedLine
from storefront.pricing.eu_vat import MEMBER_STATES, vat_area
from storefront.pricing.models import TaxRate
from storefront.pricing.postcodes import place_rank
from storefront.pricing.sharing import HUNDRED, share_out
from storefront.shops.models import Shop

TAXED, REVERSE_CHARGE, EXPORT = "taxed", "reverse_charge", "export"
# Names of tax lines with an amount of zero, on pages, mails and invoices.
NAMES = {
    # Translators: The name of the tax on an invoice whose recipient owes the VAT, in the words of the law. Germany:
    # "Steuerschuldnerschaft des Leistungsempfängers" (§ 14a UStG). France: "Autoliquidation". Spain: "Inversión del
    # sujeto pasivo". Italy: "Inversione contabile". Netherlands: "Btw verlegd". Poland: "Odwrotne obciążenie".
    REVERSE_CHARGE: gettext_lazy("Reverse charge"),
    # Translators: The name of the tax on goods that leave the European Union, which are free of VAT.
    EXPORT: gettext_lazy("Export outside the EU"),
}
ONE = Decimal(1)

Address = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TaxTerms:
    """The terms on which the taxes of a basket depend, besides its lines.

    `rates` are the shop's rates in its own country and in those of the addresses. `destination` is the address where
    goods are delivered or collected, `buyer` the billing address, where tax of digital goods is due; None: not known
    yet. `vat_id_country` is the member state of the buyer's VAT ID if that was found valid. `included`: prices are
    entered with tax. `is_net`: the shopper sees prices without tax.
    """

    rates: Sequence[TaxRate] = ()
    home: str = ""
    destination: Address | None = None
    buyer: Address | None = None
    vat_id_country: str = ""
    included: bool = True
    is_net: bool = False
    eu_tax: str = Shop.EuTax.LISTED
    rounding: str = Shop.TaxRounding.ORDER
    delivery_tax: str = Shop.DeliveryTax.GOODS
    delivery_class_id: int | None = None
    exports_at_net_price: bool = False


NO_TAX = TaxTerms()


@dataclass(frozen=True, slots=True)
class Due:
    """The tax due on an item: the rates, each with its part of the net price; or the reason why there is no tax."""

    rates: tuple[tuple[TaxRate, Decimal], ...] = ()
    treatment: str = TAXED

    @property
    def part(self) -> Decimal:
        """All taxes, as a part of the net price: 0.19 for 19%."""
        return sum((part for _, part in self.rates), Decimal(0))

    @property
    def net_part(self) -> Decimal:
        """The net price, as a part of the price with tax."""
        return ONE / (ONE + self.part)

    @property
    def for_delivery(self) -> "Due":
        return Due(_stacked(rate for rate, _ in self.rates if rate.applies_to_shipping), self.treatment)


UNTAXED = Due()


@dataclass(frozen=True, slots=True)
class TaxLine:
    """The tax of one rate, as an invoice shows it: on `base`, which is without tax, `amount` is due. A `treatment`
    other than TAXED is the reason why there is none."""

    name: str
    percent: Decimal
    base: Decimal
    amount: Decimal
    treatment: str = TAXED

    @property
    def label(self) -> str:
        """The label for shoppers, such as `VAT 19%`."""
        return tax_label(self.name, self.percent, self.treatment)

    @property
    def record(self) -> dict[str, str]:
        """The record that an order stores."""
        return {
            "name": self.name,
            "percent": f"{self.percent.normalize():f}",
            "base": f"{self.base:.2f}",
            "amount": f"{self.amount:.2f}",
            "treatment": self.treatment,
        }


def tax_label(name: str, percent: Decimal | str, treatment: str = TAXED) -> str:
    """The name with the rate. Tax-free lines have no rate, and neither has a tax of unknown rates, whose percentage is
    empty."""
    return f"{name} {format_percent(Decimal(percent))}" if treatment == TAXED and percent != "" else name


@dataclass(frozen=True, slots=True)
class Taxed:
    """Taxes by rate, in all and of each line, and the tax in the delivery's price."""

    lines: tuple[TaxLine, ...] = ()
    of_lines: tuple[tuple[TaxLine, ...], ...] = ()
    of_shipping: Decimal = ZERO


@dataclass(slots=True)
class _Item:
    """A line, or a part of the delivery that is taxed at the same rates. `taxes` has an amount for each rate, in
    order."""

    amount: Decimal
    due: Due
    line: int | None = None
    taxes: list[Decimal] = field(default_factory=list)

    def exact(self, part: Decimal, *, included: bool) -> Decimal:
        return self.amount * part / (ONE + self.due.part if included else ONE)

    def net(self, *, included: bool) -> Decimal:
        return self.amount - sum(self.taxes, ZERO) if included else self.amount


def due_on(line: PricedLine, terms: TaxTerms) -> Due:
    """The tax due on this line at its destination."""
    address = terms.buyer if line.is_digital else terms.destination
    if not line.is_taxable or line.is_gift_card or address is None or not terms.rates:
        return UNTAXED
    return _due(terms, line.tax_class_id, address, is_goods=not line.is_digital)


def is_without_tax(due: Due, terms: TaxTerms) -> bool:
    """Returns True if the item is free of tax, and its price has to be shown without tax."""
    return due.treatment == REVERSE_CHARGE or (due.treatment == EXPORT and terms.exports_at_net_price)


def included_in(line: PricedLine, terms: TaxTerms) -> Due:
    """The taxes that the entered price of this line contains: those of the shop's own country."""
    if not terms.included or not line.is_taxable or line.is_gift_card:
        return UNTAXED
    return Due(_at_home(terms, line.tax_class_id))


def delivery_due(terms: TaxTerms, *, at_home: bool = False) -> Due:
    """The tax due on delivery if it has a tax class of its own."""
    if at_home:
        return Due(_at_home(terms, terms.delivery_class_id))
    if terms.destination is None or not terms.rates:
        return UNTAXED
    return _due(terms, terms.delivery_class_id, terms.destination, is_goods=True)


def delivery_weights(lines: Sequence[PricedLine], amounts: Sequence[Decimal]) -> list[Decimal]:
    """The weights by which delivery is split over the lines: the amounts of the goods, or of all lines if there are
    none."""
    are_goods = [not line.is_gift_card and not line.is_digital for line in lines]
    if not any(are_goods):
        return [ZERO if line.is_gift_card else amount for line, amount in zip(lines, amounts, strict=True)]
    weights = [amount if is_goods else ZERO for is_goods, amount in zip(are_goods, amounts, strict=True)]
    return weights if any(weights) else [Decimal(is_goods) for is_goods in are_goods]


def tax_basket(
    lines: Sequence[PricedLine],
    dues: Sequence[Due],
    amounts: Sequence[Decimal],
    shipping: Decimal,
    terms: TaxTerms,
    currency: str,
    *,
    included: bool,
) -> Taxed:
    """The taxes of lines that come to these `amounts` after discounts, and of their delivery.

    Tax is rounded once for each rate and split over its lines, or rounded on each line, as the shop has chosen.
    """
    items = [_Item(amount, due, i) for i, (amount, due) in enumerate(zip(amounts, dues, strict=True))]
    items += _delivery_items(lines, dues, amounts, shipping, terms, currency)
    members: dict[int, list[tuple[_Item, int]]] = {}
    rates: dict[int, TaxRate] = {}
    for item in items:
        for i, (rate, _) in enumerate(item.due.rates):
            rates[rate.pk] = rate
            members.setdefault(rate.pk, []).append((item, i))
        item.taxes = [ZERO] * len(item.due.rates)
    for of_rate in members.values():
        _tax(of_rate, currency, included=included, by_line=terms.rounding == Shop.TaxRounding.LINE)
    found = [_tax_line(rates[pk], of_rate, included=included) for pk, of_rate in members.items()]
    for treatment, name in NAMES.items():
        free = [item.amount for item in items if item.due.treatment == treatment]
        if free:
            found.append(TaxLine(str(name), Decimal(0), sum(free, ZERO), ZERO, treatment))
    return Taxed(
        tuple(found),
        tuple(_lines_of(item, included=included) for item in items if item.line is not None),
        sum((sum(item.taxes, ZERO) for item in items if item.line is None), ZERO),
    )


def rates_at(rates: Iterable[TaxRate], tax_class_id: int | None, address: Address) -> tuple[TaxRate, ...]:
    """The rates of a tax class at this address: of each step the most specific one, by postal code, else by region,
    else by country. Of several with postal codes, the one whose pattern covers the fewest codes."""
    best: dict[int, tuple[tuple[int, ...], TaxRate]] = {}
    for rate in rates:
        rank = _rank(rate, address) if rate.tax_class_id == tax_class_id else None
        if rank is not None and (rate.step not in best or rank > best[rate.step][0]):
            best[rate.step] = (rank, rate)
    return tuple(best[step][1] for step in sorted(best))


def _due(terms: TaxTerms, tax_class_id: int | None, address: Address, *, is_goods: bool) -> Due:
    here = rates_at(terms.rates, tax_class_id, address)
    if terms.home not in MEMBER_STATES:
        return Due(_stacked(here))
    area = vat_area(address, is_goods=is_goods)
    if area and area != terms.home and terms.vat_id_country not in ("", terms.home):
        return Due(treatment=REVERSE_CHARGE)
    if not area or terms.eu_tax == Shop.EuTax.LISTED:
        # In parts of member states outside of the VAT area, only rates that the shop has entered for this very place
        # count.
        if terms.eu_tax != Shop.EuTax.LISTED and address.get("country") in MEMBER_STATES:
            here = tuple(rate for rate in here if rate.region or rate.postcodes)
        is_export = not here and not area and bool(_at_home(terms, tax_class_id))
        return Due(treatment=EXPORT) if is_export else Due(_stacked(here))
    if terms.eu_tax == Shop.EuTax.ORIGIN and area != terms.home:
        return Due(_at_home(terms, tax_class_id))
    country = {**address, "country": "FR"} if address.get("country") == "MC" else address
    here = here or rates_at(terms.rates, tax_class_id, country) or rates_at(terms.rates, None, country)
    return Due(_stacked(here) if here else _at_home(terms, tax_class_id))


def _at_home(terms: TaxTerms, tax_class_id: int | None) -> tuple[tuple[TaxRate, Decimal], ...]:
    """The rates in the shop's own country. In the EU, the standard rate applies to a class without a rate there."""
    address = {"country": terms.home}
    here = rates_at(terms.rates, tax_class_id, address)
    if not here and terms.home in MEMBER_STATES and terms.eu_tax != Shop.EuTax.LISTED:
        here = rates_at(terms.rates, None, address)
    return _stacked(here)


def _stacked(rates: Iterable[TaxRate]) -> tuple[tuple[TaxRate, Decimal], ...]:
    """The rates, in the order of their steps, each with its part of the net price."""
    found: list[tuple[TaxRate, Decimal]] = []
    before = Decimal(0)
    for rate in rates:
        part = rate.percent / HUNDRED * (ONE + before if rate.is_compound else ONE)
        found.append((rate, part))
        before += part
    return tuple(found)


def _rank(rate: TaxRate, address: Address) -> tuple[int, ...] | None:
    if rate.country != address.get("country", ""):
        return None
    return place_rank(rate.postcodes, [rate.region] if rate.region else [], address)


def _delivery_items(
    lines: Sequence[PricedLine],
    dues: Sequence[Due],
    amounts: Sequence[Decimal],
    shipping: Decimal,
    terms: TaxTerms,
    currency: str,
) -> list[_Item]:
    if not shipping:
        return []
    if terms.delivery_tax == Shop.DeliveryTax.CLASS:
        return [_Item(shipping, delivery_due(terms))]
    parts: dict[Due, Decimal] = {}
    shares = share_out(shipping, delivery_weights(lines, amounts), currency)
    for due, share in zip(dues, shares, strict=True):
        if share:
            parts[due.for_delivery] = parts.get(due.for_delivery, ZERO) + share
    return [_Item(amount, due) for due, amount in parts.items()]


def _tax(members: Sequence[tuple[_Item, int]], currency: str, *, included: bool, by_line: bool) -> None:
    """Write the tax of one rate into its items."""
    exact = [item.exact(item.due.rates[i][1], included=included) for item, i in members]
    # The sum of included taxes never exceeds the price.
    most = [item.net(included=True) if included else None for item, _ in members]
    if by_line:
        shares = [_at_most(quantize(each, currency), limit) for each, limit in zip(exact, most, strict=True)]
    else:
        limit = sum((each for each in most if each is not None), ZERO) if included else None
        shares = share_out(_at_most(quantize(sum(exact, Decimal(0)), currency), limit), exact, currency)
    for (item, i), share in zip(members, shares, strict=True):
        item.taxes[i] = share


def _at_most(amount: Decimal, limit: Decimal | None) -> Decimal:
    return amount if limit is None else min(amount, limit)


def _base(item: _Item, i: int, *, included: bool) -> Decimal:
    """The amount on which the item's rate at this position is charged."""
    net = item.net(included=included)
    return net + sum(item.taxes[:i], ZERO) if item.due.rates[i][0].is_compound else net


def _tax_line(rate: TaxRate, members: Sequence[tuple[_Item, int]], *, included: bool) -> TaxLine:
    base = sum((_base(item, i, included=included) for item, i in members), ZERO)
    return TaxLine(rate.name, rate.percent, base, sum((item.taxes[i] for item, i in members), ZERO))


def _lines_of(item: _Item, *, included: bool) -> tuple[TaxLine, ...]:
    if item.due.treatment != TAXED:
        return (TaxLine(str(NAMES[item.due.treatment]), Decimal(0), item.amount, ZERO, item.due.treatment),)
    return tuple(
        TaxLine(rate.name, rate.percent, _base(item, i, included=included), item.taxes[i])
        for i, (rate, _) in enumerate(item.due.rates)
    )

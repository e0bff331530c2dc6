"""Price rules, without database or clock. Amounts are Decimal in the shop's currency."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from storefront.catalogue.models import Product, Variant
from storefront.kit.money import ZERO, quantize
from storefront.pricing.discounts import Candidate, CodeResult, DiscountLine, PricedLine, apply_discounts
from storefront.pricing.models import ShippingRate, TaxRate
from storefront.pricing.sharing import HUNDRED, share_out


@dataclass(frozen=True, slots=True)
class TaxLine:
    """The tax of one rate on all lines it applies to, rounded once, as an invoice shows it."""

    name: str
    percent: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class ShippingOption:
    """A shipping rate that fits a basket, and its price for that basket."""

    rate: ShippingRate
    price: Decimal


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a basket. `tax` is added to the other sums, or included in them if prices include tax.

    `line_discounts` and `line_taxes` are in the order of the lines. They add up to `discount` and, with `shipping_tax`,
    to `tax`. A discount that makes
    delivery free (`is_delivery_free`) is no part of `discount`: then `shipping` is zero.
    """

    subtotal: Decimal
    discount: Decimal
    shipping: Decimal
    tax: Decimal
    total: Decimal
    item_count: int
    line_count: int
    discount_lines: tuple[DiscountLine, ...] = ()
    codes: tuple[CodeResult, ...] = ()
    tax_lines: tuple[TaxLine, ...] = ()
    line_discounts: tuple[Decimal, ...] = ()
    line_taxes: tuple[Decimal, ...] = ()
    shipping_tax: Decimal = ZERO
    prices_include_tax: bool = True
    is_delivery_free: bool = False


def unit_price(
    product: Product,
    variant: Variant | None = None,
    option_prices: Iterable[Decimal] = (),
    *,
    group_price: Decimal | None = None,
    group_percent: Decimal = ZERO,
    custom_price: Decimal | None = None,
    is_damaged: bool = False,
) -> Decimal:
    """The price of one piece, with its options.

    The first of these that exists: the custom price, the price of damaged units if `is_damaged`, the group price
    (R-CART-30), the list price less the group's percentage. Option prices are then added in full.
    """
    if custom_price is not None:
        price = custom_price
    elif is_damaged and product.damaged_price is not None:
        price = product.damaged_price
    else:
        price = price_for_group((variant or product).price, own=group_price, percent=group_percent)
    return quantize(price + sum(option_prices, ZERO))


def price_for_group(list_price: Decimal, *, own: Decimal | None, percent: Decimal) -> Decimal:
    """The group price if there is one, else the list price less the percentage. Not rounded."""
    return own if own is not None else list_price * (HUNDRED - percent) / HUNDRED


def rate_for(
    rates: Iterable[TaxRate], *, tax_class_id: int | None, country: str | None, region: str = ""
) -> TaxRate | None:
    """The tax rate of a tax class at the destination: the region's own, else the country's, else None."""
    fitting = [
        rate
        for rate in rates
        if rate.tax_class_id == tax_class_id
        and rate.country == country
        and rate.region.casefold() in ("", region.strip().casefold())
    ]
    return max(fitting, key=lambda rate: bool(rate.region), default=None)


def tax_of(amount: Decimal, percent: Decimal, *, included: bool) -> Decimal:
    """The tax included in an amount, or to be added to it."""
    return quantize(amount * percent / (HUNDRED + percent if included else HUNDRED))


def shipping_options(
    rates: Iterable[ShippingRate], *, country: str, weight: Decimal, subtotal: Decimal
) -> list[ShippingOption]:
    """The shipping rates to the country for this weight, each with its price for this subtotal."""
    return [
        ShippingOption(rate, shipping_price(rate, subtotal))
        for rate in rates
        if rate.is_active
        and (not rate.countries or country in rate.countries)
        and rate.minimum_weight <= weight
        and (rate.maximum_weight is None or weight <= rate.maximum_weight)
    ]


def shipping_price(rate: ShippingRate, subtotal: Decimal) -> Decimal:
    """The price of delivery for this subtotal."""
    free = rate.free_from is not None and subtotal >= rate.free_from
    return ZERO if free else rate.price


def totals(
    lines: Sequence[PricedLine],
    *,
    now: datetime,
    discounts: Iterable[Candidate] = (),
    shipping: Decimal = ZERO,
    rates: Collection[TaxRate] = (),
    country: str | None = None,
    region: str = "",
    prices_include_tax: bool = True,
) -> Totals:
    """The totals of these lines, with the discounts that apply. Without a country, as in a cart, there is no tax
    (R-CART-35).

    total = subtotal - discount + shipping, plus tax if prices do not include it. Never below zero.
    """
    subtotal = sum((line.amount for line in lines), ZERO)
    applied = apply_discounts(lines, discounts, now)
    off = [sum((each.shares[i] for each in applied.lines), ZERO) for i in range(len(lines))]
    shipping = ZERO if applied.is_delivery_free else shipping
    net = [line.amount - share for line, share in zip(lines, off, strict=True)]
    taxed = _taxed(lines, net, shipping, rates, country, region, included=prices_include_tax)
    discount = sum(off, ZERO)
    tax = sum((line.amount for line in taxed.lines), ZERO)
    return Totals(
        subtotal=subtotal,
        discount=discount,
        shipping=shipping,
        tax=tax,
        total=subtotal - discount + shipping + (ZERO if prices_include_tax else tax),
        item_count=sum(line.qty for line in lines),
        line_count=len(lines),
        discount_lines=applied.lines,
        codes=applied.codes,
        tax_lines=tuple(taxed.lines),
        line_discounts=tuple(off),
        line_taxes=tuple(taxed.of_lines),
        shipping_tax=taxed.of_shipping,
        prices_include_tax=prices_include_tax,
        is_delivery_free=applied.is_delivery_free,
    )


@dataclass(slots=True)
class _Taxed:
    lines: list[TaxLine]
    of_lines: list[Decimal]
    of_shipping: Decimal


def _taxed(
    lines: Sequence[PricedLine],
    net: Sequence[Decimal],
    shipping: Decimal,
    rates: Collection[TaxRate],
    country: str | None,
    region: str,
    *,
    included: bool,
) -> _Taxed:
    """Taxes by rate, by line and for shipping. `net` holds the lines' amounts after discounts.

    Tax is rounded once per rate and then split over its lines, so that the lines add up to what is paid. Shipping is
    taxed at the rates of the lines, in proportion to their amounts.
    """
    taxed = _Taxed(lines=[], of_lines=[ZERO] * len(lines), of_shipping=ZERO)
    if not rates or country is None:
        return taxed
    shipping_shares = share_out(shipping, net)
    indexes_by_rate: dict[int, list[int]] = {}
    rates_by_id: dict[int, TaxRate] = {}
    for i, line in enumerate(lines):
        rate = rate_for(rates, tax_class_id=line.tax_class_id, country=country, region=region)
        if rate is not None and line.is_taxable:
            rates_by_id[rate.pk] = rate
            indexes_by_rate.setdefault(rate.pk, []).append(i)
    for rate_id, rate in rates_by_id.items():
        indexes = indexes_by_rate[rate_id]
        bases = [net[i] for i in indexes]
        shipping_base = sum((shipping_shares[i] for i in indexes), ZERO) if rate.applies_to_shipping else ZERO
        amount = tax_of(sum(bases, shipping_base), rate.percent, included=included)
        taxed.lines.append(TaxLine(rate.name, rate.percent, amount))
        *shares, shipping_share = share_out(amount, [*bases, shipping_base])
        taxed.of_shipping += shipping_share
        for i, share in zip(indexes, shares, strict=True):
            taxed.of_lines[i] = share
    return taxed

"""Price rules, without database or clock. Amounts are Decimal in the shop's currency."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from storefront.catalogue.models import Product, Variant
from storefront.gift_cards.applying import AppliedCard, spare
from storefront.kit.money import ZERO, quantize
from storefront.pricing.discounts import Candidate, CodeResult, DiscountLine, PricedLine, apply_discounts
from storefront.pricing.net_prices import at_net_prices
from storefront.pricing.sharing import HUNDRED
from storefront.pricing.taxes import NO_TAX, ONE, TaxLine, TaxTerms, due_on, is_without_tax, tax_basket


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a basket. `tax` is added to the other sums, or included in them if prices include tax.

    `unit_prices`, `line_discounts`, `line_taxes` and `line_tax_lines` are in the order of the lines. Discounts add up
    to `discount` and taxes, with `shipping_tax`, to `tax`. A discount that makes delivery free (`is_delivery_free`) is
    no part of `discount`: then `shipping` is zero. `delivery_part` is the factor for delivery prices: below 1 if they
    are entered with tax and these totals are without.
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
    line_tax_lines: tuple[tuple[TaxLine, ...], ...] = ()
    unit_prices: tuple[Decimal, ...] = ()
    delivery_part: Decimal = ONE
    shipping_tax: Decimal = ZERO
    prices_include_tax: bool = True
    is_delivery_free: bool = False
    # The part of the total that cannot be paid by gift card: gift cards that are bought.
    gift_cards_bought: Decimal = ZERO
    gift_cards: tuple[AppliedCard, ...] = ()

    @property
    def amount_due(self) -> Decimal:
        """The amount left to pay after gift cards, which are a payment and do not change `total`."""
        return self.total - sum((card.amount for card in self.gift_cards), ZERO)

    def leaving(self, minimum: Decimal) -> "Totals":
        """The totals with gift cards that leave at least the minimum to pay, if they leave anything and so much is to
        be paid at all."""
        missing = minimum - self.amount_due
        if missing <= ZERO or not self.amount_due or self.total < minimum:
            return self
        return replace(self, gift_cards=spare(self.gift_cards, missing))


def unit_price(
    product: Product,
    variant: Variant | None = None,
    option_prices: Iterable[Decimal] = (),
    *,
    currency: str,
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
    return quantize(price + sum(option_prices, ZERO), currency)


def price_for_group(list_price: Decimal, *, own: Decimal | None, percent: Decimal) -> Decimal:
    """The group price if there is one, else the list price less the percentage. Not rounded."""
    return own if own is not None else list_price * (HUNDRED - percent) / HUNDRED


def totals(
    lines: Sequence[PricedLine],
    *,
    currency: str,
    now: datetime,
    discounts: Iterable[Candidate] = (),
    shipping: Decimal = ZERO,
    is_shipping_covered: bool = True,
    terms: TaxTerms = NO_TAX,
) -> Totals:
    """The totals of these lines, with the discounts that apply. Without addresses in its tax `terms`, as in a cart,
    there is no tax (R-CART-35). `is_shipping_covered`: discounts with free delivery cover the chosen delivery method.

    total = subtotal - discount + shipping, plus tax if prices do not include it. Never below zero.
    """
    applied = apply_discounts(lines, discounts, now, currency)
    applied = applied if is_shipping_covered else applied.without_free_delivery()
    shipping = ZERO if applied.is_delivery_free else quantize(shipping, currency)
    dues = [due_on(line, terms) for line in lines]
    included, part = terms.included, ONE
    if included and (terms.is_net or any(is_without_tax(due, terms) for due in dues)):
        net = at_net_prices(lines, applied, terms, currency)
        lines, applied, part = net.lines, net.applied, net.delivery_part
        included, shipping = False, quantize(shipping * part, currency)
    subtotal = sum((line.amount for line in lines), ZERO)
    off = [sum((each.shares[i] for each in applied.lines), ZERO) for i in range(len(lines))]
    amounts = [line.amount - share for line, share in zip(lines, off, strict=True)]
    taxed = tax_basket(lines, dues, amounts, shipping, terms, currency, included=included)
    discount, tax = sum(off, ZERO), sum((line.amount for line in taxed.lines), ZERO)
    return Totals(
        subtotal=subtotal,
        discount=discount,
        shipping=shipping,
        tax=tax,
        total=subtotal - discount + shipping + (ZERO if included else tax),
        item_count=sum(line.qty for line in lines),
        line_count=len(lines),
        discount_lines=applied.lines,
        codes=applied.codes,
        tax_lines=taxed.lines,
        line_discounts=tuple(off),
        line_taxes=tuple(sum((tax.amount for tax in each), ZERO) for each in taxed.of_lines),
        line_tax_lines=taxed.of_lines,
        unit_prices=tuple(line.amount / line.qty for line in lines),
        delivery_part=part,
        shipping_tax=taxed.of_shipping,
        prices_include_tax=included,
        is_delivery_free=applied.is_delivery_free,
        gift_cards_bought=sum((line.amount for line in lines if line.is_gift_card), ZERO),
    )

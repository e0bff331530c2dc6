"""Whatever is bought, wherever it goes and however it is rounded: the sums agree to the smallest unit of the
currency."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.kit.money import ZERO, unit
from storefront.pricing.discounts import PricedLine
from storefront.pricing.rules import totals
from storefront.pricing.taxes import TAXED, TaxTerms
from tests.pricing.factories import amount, candidate, percent, rate
from tests.shops.factories import NOW

CURRENCIES = pytest.mark.parametrize("currency", ["EUR", "JPY", "RSD"])
percents = st.integers(0, 100_000).map(lambda n: str(Decimal(n) / 1_000))
CLASSES = [None, 5, 6]
# The shop is in Germany.
PLACES = [{"country": each} for each in ("DE", "FR", "CH", "US")] + [{"country": "ES", "postal_code": "35001"}]


def amounts(currency, most=10**7):
    return st.integers(0, most).map(lambda n: n * unit(currency))


@st.composite
def lines(draw, currency):
    qty = draw(st.integers(1, 50))
    kind = draw(st.sampled_from(["goods", "goods", "goods", "digital", "gift card"]))
    return PricedLine(
        amount=draw(amounts(currency, 10**6)) * qty,
        qty=qty,
        tax_class_id=draw(st.sampled_from(CLASSES)),
        is_taxable=draw(st.sampled_from([True, True, False])),
        is_gift_card=kind == "gift card",
        is_digital=kind == "digital",
    )


@st.composite
def all_rates(draw):
    found = []
    for country in ("DE", "FR", "CH"):
        for tax_class in CLASSES:
            for step in range(1, 1 + draw(st.integers(0, 3))):
                given = {"country": country, "tax_class_id": tax_class, "step": step}
                given |= {"is_compound": step > 1 and draw(st.booleans()), "applies_to_shipping": draw(st.booleans())}
                found.append(rate(draw(percents), len(found) + 1, **given))
    return found


terms = st.builds(
    TaxTerms,
    rates=all_rates(),
    home=st.just("DE"),
    destination=st.sampled_from(PLACES),
    buyer=st.sampled_from(PLACES),
    vat_id_country=st.sampled_from(["", "", "FR", "DE"]),
    included=st.booleans(),
    is_net=st.booleans(),
    eu_tax=st.sampled_from(["destination", "origin", "listed"]),
    rounding=st.sampled_from(["order", "line"]),
    delivery_tax=st.sampled_from(["goods", "class"]),
    delivery_class_id=st.sampled_from(CLASSES),
    exports_at_net_price=st.booleans(),
)


@st.composite
def baskets(draw, currency, min_size=0):
    """Lines, discounts and the price of the delivery."""
    percents = st.builds(percent, st.integers(0, 100).map(str))
    fixed = st.builds(amount, amounts(currency).map(str))
    basket = draw(st.lists(lines(currency), min_size=min_size, max_size=8))
    return basket, draw(st.lists(st.one_of(percents, fixed), max_size=3)), draw(amounts(currency))


@CURRENCIES
@given(st.data(), terms)
def test_the_sums_agree(currency, data, terms):
    basket, off, shipping = data.draw(baskets(currency))
    sums = totals(basket, currency=currency, now=NOW, discounts=map(candidate, off), shipping=shipping, terms=terms)
    added = ZERO if sums.prices_include_tax else sums.tax
    assert sums.total == sums.subtotal - sums.discount + sums.shipping + added >= 0
    assert sums.tax == sum((line.amount for line in sums.tax_lines), ZERO)
    assert sums.tax == sum(sums.line_taxes, ZERO) + sums.shipping_tax
    assert sums.subtotal == sum((p * line.qty for p, line in zip(sums.unit_prices, basket, strict=True)), ZERO)
    assert sums.discount == sum(sums.line_discounts, ZERO) == sum((one.amount for one in sums.discount_lines), ZERO)
    for each in (sums.subtotal, sums.discount, sums.shipping, sums.tax, sums.total, *sums.unit_prices):
        assert each % unit(currency) == 0
    for each in (*sums.line_taxes, *sums.line_discounts, *(line.base for line in sums.tax_lines)):
        assert each % unit(currency) == 0
    for price, share, line in zip(sums.unit_prices, sums.line_discounts, basket, strict=True):
        assert 0 <= share <= price * line.qty


@CURRENCIES
@given(st.data(), terms)
def test_bases_and_taxes_come_to_what_was_paid(currency, data, terms):
    basket, off, shipping = data.draw(baskets(currency, min_size=1))
    sums = totals(basket, currency=currency, now=NOW, discounts=map(candidate, off), shipping=shipping, terms=terms)
    for i, (line, taxes) in enumerate(zip(basket, sums.line_tax_lines, strict=True)):
        paid = sums.unit_prices[i] * line.qty - sums.line_discounts[i]
        net = paid - (sums.line_taxes[i] if sums.prices_include_tax else ZERO)
        if taxes and taxes[0].treatment == TAXED:
            # The rate of the first step is charged on the net price; compound ones on that with the taxes before them.
            assert net == taxes[0].base
            assert all(net <= tax.base <= net + sums.line_taxes[i] for tax in taxes)
        elif taxes:
            assert (taxes[0].base, taxes[0].amount) == (net, 0)
    stacked = any(len(taxes) > 1 for taxes in sums.line_tax_lines)
    if not stacked and not shipping:
        untaxed = sum(
            (
                sums.unit_prices[i] * line.qty - sums.line_discounts[i]
                for i, line in enumerate(basket)
                if not sums.line_tax_lines[i]
            ),
            ZERO,
        )
        assert sum((line.base for line in sums.tax_lines), ZERO) + untaxed == sums.total - sums.tax


@given(baskets("EUR"), terms)
def test_an_order_free_of_tax_has_none_and_says_why(bought, terms):
    basket, _, shipping = bought
    sums = totals(basket, currency="EUR", now=NOW, shipping=shipping, terms=terms)
    for line, taxes in zip(basket, sums.line_tax_lines, strict=True):
        if line.is_gift_card or not line.is_taxable:
            assert taxes == ()
    for tax in sums.tax_lines:
        if tax.treatment != TAXED:
            assert (tax.percent, tax.amount) == (0, 0)

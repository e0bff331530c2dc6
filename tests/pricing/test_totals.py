from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from storefront.pricing.discounts import PricedLine
from storefront.pricing.rules import totals
from storefront.pricing.taxes import TaxTerms
from tests.pricing.factories import amount, candidate, line, percent, rate
from tests.shops.factories import NOW


def test_empty_basket_has_zero_totals():
    sums = totals([], currency="EUR", now=NOW, discounts=[candidate(percent("10"))])
    assert (sums.subtotal, sums.discount, sums.total, sums.item_count, sums.line_count) == (0, 0, 0, 0, 0)


def test_sums_and_counts():
    sums = totals(
        [line("19.00", qty=2), line("6.00", qty=3)],
        currency="EUR",
        now=NOW,
        discounts=[candidate(percent("10"))],
        shipping=Decimal("4.90"),
    )
    assert (sums.subtotal, sums.discount, sums.shipping) == (Decimal("25.00"), Decimal("2.50"), Decimal("4.90"))
    assert (sums.total, sums.item_count, sums.line_count) == (Decimal("27.40"), 5, 2)


cents = st.integers(0, 10**9).map(lambda n: Decimal(n) / 100)
baskets = st.lists(st.builds(PricedLine, amount=cents, qty=st.integers(1, 9_999)), max_size=12)
discounts = st.lists(
    st.one_of(st.builds(percent, st.integers(0, 100).map(str)), st.builds(amount, cents.map(str))), max_size=4
)


@given(baskets, discounts, cents, st.booleans(), st.integers(0, 100).map(str))
def test_totals_are_consistent(lines, discounts, shipping, included, tax):
    sums = totals(
        lines,
        currency="EUR",
        now=NOW,
        discounts=map(candidate, discounts),
        shipping=shipping,
        terms=TaxTerms([rate(tax)], home="DE", destination={"country": "DE"}, included=included),
    )
    assert sums.subtotal == sum(line.amount for line in lines)
    assert sums.total == sums.subtotal - sums.discount + shipping + (0 if included else sums.tax)
    assert 0 <= sums.discount <= sums.subtotal
    assert sum(sums.line_discounts) == sums.discount == sum(one.amount for one in sums.discount_lines)
    assert sums.total >= shipping >= 0
    assert sums.total == sums.total.quantize(Decimal("0.01"))
    if included:
        assert sums.tax <= sums.total

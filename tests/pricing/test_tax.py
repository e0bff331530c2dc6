from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from storefront.pricing.discounts import PricedLine
from storefront.pricing.rules import totals
from storefront.pricing.taxes import TaxTerms, rates_at
from tests.pricing.factories import amount, candidate, line, percent, rate
from tests.shops.factories import NOW

FULL, REDUCED = rate("19", 1), rate("7", 2, tax_class_id=5)


def summed(lines, rates=(FULL, REDUCED), country="DE", prices_include_tax=True, **given):
    place = {"country": country} if country else None
    terms = TaxTerms(rates, home="DE", destination=place, buyer=place, included=prices_include_tax)
    return totals(lines, currency="EUR", now=NOW, terms=terms, **given)


def test_tax_included_in_a_price():
    sums = summed([line("11.90")])
    assert (sums.tax, sums.total) == (Decimal("1.90"), Decimal("11.90"))


def test_tax_added_to_a_price():
    sums = summed([line("10.00")], prices_include_tax=False)
    assert (sums.tax, sums.total) == (Decimal("1.90"), Decimal("11.90"))


def test_half_cents_are_rounded_up():
    assert summed([line("0.50")], [rate("5")], prices_include_tax=False).tax == Decimal("0.03")


def test_each_class_has_its_own_rate():
    sums = summed([line("11.90"), line("10.70", tax_class_id=5), line("9.00", tax_class_id=6)])
    assert [(tax.percent, tax.amount) for tax in sums.tax_lines] == [(19, Decimal("1.90")), (7, Decimal("0.70"))]
    assert sums.line_taxes == (Decimal("1.90"), Decimal("0.70"), Decimal(0))


def test_tax_is_rounded_once_per_rate():
    # Each line alone would round 0.016 up to 0.02.
    sums = summed([line("0.10")] * 10)
    assert sums.tax == Decimal("0.16")
    assert sum(sums.line_taxes) == Decimal("0.16")


def test_untaxable_lines_have_no_tax():
    assert summed([line("11.90", is_taxable=False)]).tax == 0


def test_without_a_country_or_a_rate_there_is_no_tax():
    assert summed([line("11.90")], country=None).tax == 0
    assert summed([line("11.90")], country="FR").tax == 0


def test_discounts_lower_the_tax():
    assert summed([line("23.80")], discounts=[candidate(percent("50"))]).tax == Decimal("1.90")


def test_shipping_is_taxed_at_the_rates_of_the_lines():
    sums = summed([line("10.00"), line("10.00", tax_class_id=5)], shipping=Decimal("4.00"), prices_include_tax=False)
    assert [tax.amount for tax in sums.tax_lines] == [Decimal("2.28"), Decimal("0.84")]
    assert sums.shipping_tax == Decimal("0.52")


def test_shipping_is_untaxed_if_the_rate_does_not_apply_to_it():
    goods_only = rate("19", applies_to_shipping=False)
    sums = summed([line("10.00")], [goods_only], shipping=Decimal("4.00"), prices_include_tax=False)
    assert (sums.tax, sums.shipping_tax) == (Decimal("1.90"), 0)


def test_shipping_of_free_lines_is_taxed():
    assert summed([line("0.00")], shipping=Decimal("11.90")).tax == Decimal("1.90")


def test_region_rate_comes_before_the_country_rate():
    country, region = rate("5", 1, country="CA"), rate("13", 2, country="CA", region="Ontario")
    for rates in ([country, region], [region, country]):
        assert rates_at(rates, None, {"country": "CA", "region": " ontario "}) == (region,)
        assert rates_at(rates, None, {"country": "CA", "region": "Alberta"}) == (country,)
        assert rates_at(rates, None, {"country": "CA"}) == (country,)
    assert rates_at([region], None, {"country": "US", "region": "Ontario"}) == ()


cents = st.integers(0, 10**9).map(lambda n: Decimal(n) / 100)
taxed_lines = st.lists(
    st.builds(PricedLine, amount=cents, tax_class_id=st.sampled_from([None, 5, 6]), is_taxable=st.booleans()),
    max_size=12,
)


@given(taxed_lines, cents, st.booleans(), cents)
def test_line_taxes_and_shipping_tax_add_up_to_the_tax(lines, shipping, included, off):
    sums = summed(lines, shipping=shipping, prices_include_tax=included, discounts=[candidate(amount(str(off)))])
    assert sum(sums.line_taxes, sums.shipping_tax) == sums.tax == sum(tax.amount for tax in sums.tax_lines)
    assert all(tax >= 0 for tax in (*sums.line_taxes, sums.shipping_tax))


@given(cents, st.integers(0, 100_000).map(lambda n: Decimal(n) / 1_000))
def test_included_tax_is_the_tax_on_the_net_amount(gross, percent):
    rates = [rate(str(percent))]
    contained = summed([PricedLine(gross)], rates).tax
    assert 0 <= contained <= gross
    again = summed([PricedLine(gross - contained)], rates, prices_include_tax=False).tax
    assert abs(contained - again) <= Decimal("0.02")

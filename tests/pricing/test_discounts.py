from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.pricing.rules import PricedLine, applied_discounts
from tests.pricing.factories import amount, line, percent
from tests.shops.factories import NOW

CUPS = frozenset({1})


def applied(lines, *discounts, now=NOW):
    return [(one.name, str(one.amount)) for one in applied_discounts(lines, discounts, now)]


def test_a_percentage_and_an_amount():
    lines = [line("19.00"), line("1.00")]
    assert applied(lines, percent("10"), amount("3.00")) == [("10 percent", "2.00"), ("3.00 off", "3.00")]


def test_percentages_add_up_and_do_not_compound():
    assert applied([line("100.00")], percent("10"), percent("20")) == [("10 percent", "10.00"), ("20 percent", "20.00")]


def test_discounts_never_exceed_the_subtotal():
    taken = applied([line("10.00")], percent("60"), percent("60"), amount("5.00"))
    assert taken == [("60 percent", "6.00"), ("60 percent", "4.00")]


def test_category_discount_applies_to_its_category_only():
    (one,) = applied_discounts([line("10.00", category_ids=CUPS), line("30.00")], [percent("50", category_id=1)], NOW)
    assert one.shares == (Decimal("5.00"), Decimal("0.00"))


def test_category_amount_never_exceeds_its_lines():
    lines = [line("10.00", category_ids=CUPS), line("30.00")]
    assert applied(lines, amount("25.00", category_id=1)) == [("25.00 off", "10.00")]


@pytest.mark.parametrize(("minimum", "applies"), [("10.00", True), ("10.01", False)])
def test_applies_from_the_minimum_subtotal(minimum, applies):
    assert bool(applied([line("10.00")], percent("10", minimum_subtotal=Decimal(minimum)))) is applies


def test_applies_from_its_start_until_before_its_end():
    discount = percent("10", starts_at=NOW, ends_at=NOW + timedelta(days=1))
    assert applied([line("10.00")], discount)
    assert not applied([line("10.00")], discount, now=NOW - timedelta(seconds=1))
    assert not applied([line("10.00")], discount, now=NOW + timedelta(days=1))


def test_discount_of_zero_is_not_listed():
    assert applied([line("10.00")], percent("0"), percent("10", category_id=9), percent("10", is_active=False)) == []
    assert applied([], percent("10"), amount("5.00")) == []


amounts = st.integers(0, 10**9).map(lambda n: Decimal(n) / 100)
lines = st.lists(st.builds(PricedLine, amount=amounts, category_ids=st.sampled_from([frozenset(), CUPS])), max_size=12)
discounts = st.lists(
    st.one_of(
        st.builds(
            percent, st.integers(0, 10_000).map(lambda n: str(Decimal(n) / 100)), category_id=st.sampled_from([None, 1])
        ),
        st.builds(amount, amounts.map(str), category_id=st.sampled_from([None, 1])),
    ),
    max_size=5,
)


@given(lines, discounts)
def test_no_line_is_discounted_below_zero(lines, discounts):
    found = applied_discounts(lines, discounts, NOW)
    for one in found:
        assert sum(one.shares) == one.amount > 0
    for number, one_line in enumerate(lines):
        assert 0 <= sum(one.shares[number] for one in found) <= one_line.amount

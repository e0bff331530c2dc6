from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.pricing.discounts import Candidate, PricedLine, apply_discounts
from tests.pricing.factories import amount, buy_get, candidate, free_delivery, line, percent
from tests.shops.factories import NOW

CUPS = {1}


def taken(lines, *discounts, now=NOW):
    """The lines of these discounts, or of candidates."""
    given = [each if isinstance(each, Candidate) else candidate(each) for each in discounts]
    return apply_discounts(lines, given, now, "EUR").lines


def applied(lines, *discounts, now=NOW):
    return [(one.name, str(one.amount)) for one in taken(lines, *discounts, now=now)]


def test_a_percentage_and_an_amount():
    lines = [line("19.00"), line("1.00")]
    assert applied(lines, percent("10"), amount("3.00")) == [("10 percent", "2.00"), ("3.00 off", "3.00")]


def test_percentages_add_up_and_do_not_compound():
    assert applied([line("100.00")], percent("10"), percent("20")) == [("10 percent", "10.00"), ("20 percent", "20.00")]


def test_discounts_never_exceed_the_subtotal():
    assert applied([line("10.00")], percent("60"), percent("60"), amount("5.00")) == [
        ("60 percent", "6.00"),
        ("60 percent", "4.00"),
    ]


def test_limited_discount_applies_to_its_items_only():
    (one,) = taken([line("10.00", product_id=1), line("30.00")], candidate(percent("50"), CUPS))
    assert one.shares == (Decimal("5.00"), Decimal("0.00"))


def test_limited_amount_never_exceeds_its_lines():
    lines = [line("10.00", product_id=1), line("30.00")]
    assert applied(lines, candidate(amount("25.00"), CUPS)) == [("25.00 off", "10.00")]


@pytest.mark.parametrize(("minimum", "applies"), [("10.00", True), ("10.01", False)])
def test_applies_from_the_minimum_subtotal(minimum, applies):
    assert bool(applied([line("10.00")], percent("10", minimum_subtotal=Decimal(minimum)))) is applies


def test_applies_from_its_start_until_before_its_end():
    discount = percent("10", starts_at=NOW, ends_at=NOW + timedelta(days=1))
    assert applied([line("10.00")], discount)
    assert not applied([line("10.00")], discount, now=NOW - timedelta(seconds=1))
    assert not applied([line("10.00")], discount, now=NOW + timedelta(days=1))


def test_discount_of_zero_is_not_listed():
    assert applied([line("10.00")], percent("0"), candidate(percent("10"), {9}), percent("10", is_active=False)) == []
    assert applied([], percent("10"), amount("5.00")) == []


def test_of_complete_sets_the_cheapest_pieces_cost_less():
    lines = [line("30.00", qty=3), line("4.00", qty=1), line("12.00", qty=2)]
    (one,) = taken(lines, buy_get(2, 1))
    # Six pieces are two sets: the one for 4.00 and one for 6.00.
    assert (one.amount, one.shares) == (Decimal("10.00"), (Decimal("0.00"), Decimal("4.00"), Decimal("6.00")))


@pytest.mark.parametrize(("qty", "off"), [(2, []), (3, ["5.00"]), (5, ["5.00"]), (6, ["10.00"])])
def test_an_incomplete_set_gets_nothing(qty, off):
    assert [each for _, each in applied([line(f"{10 * qty}.00", qty=qty)], buy_get(2, 1, value="50"))] == off


def test_the_pieces_of_a_set_are_those_that_it_is_limited_to():
    lines = [line("1.00", product_id=9), line("20.00", qty=2, product_id=1)]
    assert applied(lines, candidate(buy_get(1, 1), CUPS)) == [("Buy 1 get 1", "10.00")]


def test_free_delivery_takes_nothing_off_the_lines():
    (one,) = taken([line("10.00")], free_delivery())
    assert (one.amount, one.shares, one.is_free_delivery) == (0, (Decimal("0.00"),), True)


def test_of_discounts_that_cannot_be_combined_what_takes_off_most_applies():
    alone = percent("25", is_combinable=False)
    assert applied([line("100.00")], percent("10"), alone, amount("5.00")) == [("25 percent", "25.00")]
    both = [("10 percent", "10.00"), ("15.00 off", "15.00")]
    assert applied([line("100.00")], percent("10"), alone, amount("15.00")) == both
    assert applied([line("100.00")], percent("1"), free_delivery(is_combinable=False)) == [("1 percent", "1.00")]
    assert applied([line("100.00")], free_delivery(is_combinable=False)) == [("Free delivery", "0.00")]


def test_a_discount_applies_once_automatically_and_by_any_number_of_codes():
    spring = percent("10")
    found = apply_discounts(
        [line("10.00")], [candidate(spring), candidate(spring, code="A"), candidate(spring, code="B")], NOW, "EUR"
    )
    assert [(each.name, each.amount) for each in found.lines] == [("10 percent", 1)]
    assert [each.refused for each in found.codes] == ["discount_code_not_combinable"] * 2


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, ""),
        ({"ends_at": NOW}, "discount_code_expired"),
        ({"is_active": False}, "discount_code_expired"),
        ({"starts_at": NOW + timedelta(seconds=1)}, "discount_code_not_applicable"),
        ({"minimum_subtotal": Decimal("10.01")}, "discount_code_not_applicable"),
    ],
)
def test_a_code_says_why_it_takes_nothing_off(given, refused):
    (result,) = apply_discounts([line("10.00")], [candidate(percent("10", **given), code="A")], NOW, "EUR").codes
    assert (result.refused, bool(result.message)) == (refused, bool(refused))
    assert result.amount == (0 if refused else 1)


def test_a_code_that_fits_no_item_or_is_used_up_or_unknown_says_so():
    codes = [
        candidate(percent("10"), {9}, code="A"),
        candidate(percent("10"), code="B", refused="discount_code_used_up"),
        Candidate(None, "C"),
        candidate(percent("1", is_combinable=False), code="D"),
        candidate(percent("2"), code="E"),
    ]
    found = {each.code: each.refused for each in apply_discounts([line("10.00")], codes, NOW, "EUR").codes}
    assert found == {
        "A": "discount_code_not_applicable",
        "B": "discount_code_used_up",
        "C": "discount_code_unknown",
        "D": "discount_code_not_combinable",
        "E": "",
    }


amounts = st.integers(0, 10**9).map(lambda n: Decimal(n) / 100)
lines = st.lists(
    st.builds(
        lambda each, qty, product_id: PricedLine(each * qty, qty, product_id),
        amounts,
        st.integers(1, 9),
        st.sampled_from([0, 1]),
    ),
    max_size=12,
)
percentages = st.integers(0, 10_000).map(lambda n: str(Decimal(n) / 100))
discounts = st.lists(
    st.builds(
        candidate,
        st.one_of(
            st.builds(percent, percentages, is_combinable=st.booleans()),
            st.builds(amount, amounts.map(str), is_combinable=st.booleans()),
            st.builds(buy_get, st.integers(1, 3), st.integers(1, 3), value=percentages),
            st.builds(free_delivery, is_combinable=st.booleans()),
        ),
        st.sampled_from([None, CUPS]),
    ),
    max_size=5,
)


@given(lines, discounts)
def test_no_line_is_discounted_below_zero(lines, discounts):
    found = apply_discounts(lines, discounts, NOW, "EUR").lines
    for one in found:
        assert sum(one.shares) == one.amount >= 0
        assert one.amount > 0 or one.is_free_delivery
    for number, one_line in enumerate(lines):
        assert 0 <= sum(one.shares[number] for one in found) <= one_line.amount

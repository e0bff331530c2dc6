from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.kit.money import unit
from storefront.pricing.sharing import share_out

CURRENCIES = ["EUR", "JPY", "RSD"]
units = st.integers(0, 10**11)


def test_odd_units_go_to_the_largest_remainders():
    shares = share_out(Decimal("1.00"), [Decimal(1), Decimal(1), Decimal(1)], "EUR")
    assert shares == [Decimal("0.34"), Decimal("0.33"), Decimal("0.33")]
    assert share_out(Decimal("100.00"), [Decimal(1), Decimal(1), Decimal(1)], "JPY") == [34, 33, 33]


def test_no_weights_have_no_shares():
    assert share_out(Decimal("1.00"), [], "EUR") == []


@pytest.mark.parametrize("currency", CURRENCIES)
@given(units, st.lists(units, min_size=1, max_size=30))
def test_shares_are_whole_units_and_add_up(currency, amount, weights):
    least = unit(currency)
    shares = share_out(amount * least, [weight * least for weight in weights], currency)
    assert sum(shares) == amount * least
    assert all(share % least == 0 and share >= 0 for share in shares)


@pytest.mark.parametrize("currency", CURRENCIES)
@given(st.data(), st.lists(units, min_size=1, max_size=30).filter(any))
def test_no_share_is_above_its_weight(currency, data, weights):
    least = unit(currency)
    amount = data.draw(st.integers(0, sum(weights))) * least
    shares = share_out(amount, [weight * least for weight in weights], currency)
    assert all(share <= weight * least for share, weight in zip(shares, weights, strict=True))

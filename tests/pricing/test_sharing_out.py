from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from storefront.pricing.sharing import share_out

cents = st.integers(0, 10**11).map(lambda n: Decimal(n) / 100)


def test_odd_cents_go_to_the_largest_remainders():
    shares = share_out(Decimal("1.00"), [Decimal(1), Decimal(1), Decimal(1)])
    assert shares == [Decimal("0.34"), Decimal("0.33"), Decimal("0.33")]


def test_no_weights_have_no_shares():
    assert share_out(Decimal("1.00"), []) == []


@given(cents, st.lists(cents, min_size=1, max_size=30))
def test_shares_are_whole_cents_and_add_up(amount, weights):
    shares = share_out(amount, weights)
    assert sum(shares) == amount
    assert all(share == share.quantize(Decimal("0.01")) and share >= 0 for share in shares)


@given(st.data(), st.lists(cents, min_size=1, max_size=30).filter(any))
def test_no_share_is_above_its_weight(data, weights):
    amount = Decimal(data.draw(st.integers(0, int(sum(weights) * 100)))) / 100
    shares = share_out(amount, weights)
    assert all(share <= weight for share, weight in zip(shares, weights, strict=True))

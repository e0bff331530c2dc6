from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.kit.money import quantize, unit
from storefront.pricing import rules
from storefront.pricing.queries import GroupTerms
from tests.pricing.factories import product, variant


def unit_price(*given, **more):
    return rules.unit_price(*given, **{"currency": "EUR"} | more)


def test_list_price_is_the_default():
    assert unit_price(product("9.50")) == Decimal("9.50")


def test_variant_price_plus_options():
    assert unit_price(product("9.50"), variant("12.00"), [Decimal("5.00"), Decimal("0.50")]) == Decimal("17.50")


def test_a_percentage_off_is_rounded_half_up():
    assert unit_price(product("0.99"), group_percent=Decimal("50")) == Decimal("0.50")
    assert unit_price(product("105.00"), group_percent=Decimal("10"), currency="JPY") == 95


def test_group_price_comes_before_the_percentage():
    assert unit_price(product(), group_price=Decimal("8.00"), group_percent=Decimal("50")) == Decimal("8.00")


def test_group_price_of_zero_applies():
    assert unit_price(product(), group_price=Decimal("0.00")) == Decimal("0.00")


def test_damaged_price_comes_before_the_group_price():
    lamp = product("40.00", damaged_price=Decimal("25.00"))
    assert unit_price(lamp, is_damaged=True, group_price=Decimal("30.00")) == Decimal("25.00")


def test_custom_price_comes_first():
    lamp = product("40.00", damaged_price=Decimal("25.00"))
    price = unit_price(
        lamp, custom_price=Decimal("50.00"), is_damaged=True, group_price=Decimal("1.00"), group_percent=Decimal("10")
    )
    assert price == Decimal("50.00")


@pytest.mark.parametrize("percent", ["0", "100"])
def test_percentages_of_0_and_100(percent):
    assert unit_price(product(), group_percent=Decimal(percent)) == (10 if percent == "0" else 0)


@pytest.mark.parametrize("currency", ["EUR", "JPY", "RSD"])
@given(st.integers(0, 10**9), st.integers(0, 10_000), st.sampled_from([None, "0.05", "0.19", "0.255"]))
def test_what_a_group_sees_is_whole_units_and_what_it_pays(currency, price, percent, tax):
    """A page shows `price_of`, a cart charges `unit_price`, of which net prices are taken."""
    listed, percent = price * unit(currency), Decimal(percent) / 100
    net_parts = {} if tax is None else {1: 1 / (1 + Decimal(tax))}
    terms = GroupTerms(currency, percent, net_parts=net_parts, is_net=bool(net_parts))
    shown = terms.price_of(listed, 1)
    paid = unit_price(product(str(listed)), group_percent=percent, currency=currency)
    assert shown == quantize(paid * net_parts.get(1, 1), currency)
    assert shown % unit(currency) == paid % unit(currency) == 0
    assert shown <= paid <= listed

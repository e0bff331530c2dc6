from decimal import Decimal

import pytest

from storefront.pricing.rules import shipping_options, shipping_price
from tests.pricing.factories import delivery


def names(*rates, country="DE", weight="1.000", subtotal="20.00"):
    found = shipping_options(rates, country=country, weight=Decimal(weight), subtotal=Decimal(subtotal))
    return [option.rate.name for option in found]


def test_options_are_in_the_merchants_order():
    assert names(delivery("Parcel"), delivery("Express")) == ["Parcel", "Express"]


def test_a_rate_is_for_its_countries_or_for_all():
    rates = delivery("Home", countries=["DE", "AT"]), delivery("World")
    assert names(*rates, country="AT") == ["Home", "World"]
    assert names(*rates, country="FR") == ["World"]


@pytest.mark.parametrize(("weight", "fits"), [("0.999", False), ("1.000", True), ("2.000", True), ("2.001", False)])
def test_both_ends_of_a_weight_range_fit(weight, fits):
    letter = delivery(minimum_weight=Decimal("1.000"), maximum_weight=Decimal("2.000"))
    assert bool(names(letter, weight=weight)) is fits


def test_inactive_rate_does_not_fit():
    assert names(delivery(is_active=False)) == []


@pytest.mark.parametrize(("subtotal", "price"), [("49.99", "4.90"), ("50.00", "0.00")])
def test_delivery_is_free_from_the_free_from_subtotal(subtotal, price):
    assert shipping_price(delivery(free_from=Decimal("50.00")), Decimal(subtotal)) == Decimal(price)


def test_delivery_is_never_free_without_free_from():
    assert shipping_price(delivery(), Decimal("1000000")) == Decimal("4.90")

from decimal import Decimal

import pytest

from storefront.pricing.shipping import Parcel, cheapest, shipping_options, shipping_price
from tests.pricing.factories import delivery


def parcel(weight="1.000", subtotal="20.00", **given) -> Parcel:
    return Parcel(weight=Decimal(weight), subtotal=Decimal(subtotal), **given)


def options(*rates, free=False, **given):
    return shipping_options([(rate, []) for rate in rates], parcel(**given), is_delivery_free=free)


def names(*rates, **given):
    return [option.name for option in options(*rates, **given)]


def priced(*rates, **given):
    return {option.name: str(option.price) for option in options(*rates, **given)}


def test_options_are_in_the_merchants_order():
    assert names(delivery("Parcel"), delivery("Express")) == ["Parcel", "Express"]


@pytest.mark.parametrize(("weight", "fits"), [("0.999", False), ("1.000", True), ("2.000", True), ("2.001", False)])
def test_both_ends_of_a_weight_range_fit(weight, fits):
    letter = delivery(minimum_weight=Decimal("1.000"), maximum_weight=Decimal("2.000"))
    assert bool(names(letter, weight=weight)) is fits


@pytest.mark.parametrize(("subtotal", "price"), [("49.99", "4.90"), ("50.00", "0.00")])
def test_delivery_is_free_from_the_free_from_subtotal(subtotal, price):
    found = shipping_price(delivery(free_from=Decimal("50.00")), [], parcel(subtotal=subtotal))
    assert found == Decimal(price)


def test_delivery_is_never_free_without_free_from():
    assert shipping_price(delivery(), [], parcel(subtotal="1000000")) == Decimal("4.90")


@pytest.mark.parametrize(
    ("basis", "given", "price"),
    [
        ("weight", {"weight": "2.000"}, "5.00"),
        ("weight", {"weight": "2.001"}, "9.00"),
        ("weight", {"weight": "10.000"}, "9.00"),
        ("subtotal", {"subtotal": "2.00"}, "5.00"),
        ("subtotal", {"subtotal": "2.01"}, "9.00"),
        ("count", {"count": 2}, "5.00"),
        ("count", {"count": 3}, "9.00"),
        ("count", {"count": 11}, None),
    ],
)
def test_a_table_has_the_price_up_to_each_row(basis, given, price):
    steps = [(Decimal("2.000"), Decimal("5.00")), (Decimal("10.000"), Decimal("9.00"))]
    found = shipping_price(delivery(basis=basis), steps, parcel(**given))
    assert found == (price and Decimal(price))


def test_the_last_row_may_be_for_everything_above():
    steps = [(Decimal("2.000"), Decimal("5.00")), (None, Decimal("9.00"))]
    assert shipping_price(delivery(basis="weight"), steps, parcel(weight="1000")) == Decimal("9.00")


def test_a_table_that_ends_below_is_not_offered():
    heavy = [(delivery("Letter", basis="weight"), [(Decimal("0.500"), Decimal("1.00"))])]
    assert shipping_options(heavy, parcel(weight="0.501")) == []


def test_media_mail_is_for_media_alone():
    assert names(delivery(is_media_mail=True), is_media_mail=True) == ["Parcel"]
    assert names(delivery(is_media_mail=True)) == []


def test_a_rate_of_an_origin_is_for_items_that_all_come_from_there():
    rate = delivery(shipping_origin_id=7)
    assert names(rate, origins=frozenset({7})) == ["Parcel"]
    for others in ({7, 8}, {7, None}, {8}, {None}):
        assert names(rate, origins=frozenset(others)) == []


def test_free_delivery_covers_the_cheapest():
    rates = delivery("Express", "12.50"), delivery("Parcel"), delivery("Bicycle")
    assert priced(*rates, free=True) == {"Express": "12.50", "Parcel": "0.00", "Bicycle": "0.00"}
    assert priced(*rates) == {"Express": "12.50", "Parcel": "4.90", "Bicycle": "4.90"}


def test_free_delivery_covers_the_marked_rates_alone():
    rates = delivery("Express", "12.50", free_with_discount=True), delivery("Parcel")
    assert priced(*rates, free=True) == {"Express": "0.00", "Parcel": "4.90"}
    # Those that do not fit count for nothing.
    heavy = delivery("Freight", "40.00", free_with_discount=True, minimum_weight=Decimal(5))
    assert priced(heavy, delivery("Parcel"), free=True) == {"Parcel": "0.00"}


def test_the_cheapest_is_the_first_of_equals():
    found = cheapest(options(delivery("Express", "12.50"), delivery("Parcel"), delivery("Bicycle")))
    assert found.name == "Parcel"
    assert cheapest([]) is None

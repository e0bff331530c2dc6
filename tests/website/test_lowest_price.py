"""Beside a reduced price stands the lowest one of the 30 days before it, as the EU asks."""

from datetime import timedelta
from decimal import Decimal

import pytest

from storefront.catalogue import actions
from storefront.catalogue.dated.past_prices import lowest_before
from storefront.catalogue.models import PastPrice, Product
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW

TEXT = "Lowest price in the 30 days before: <span>€"


def at_prices(shop, row, *changes: tuple[int, str]) -> None:
    """Change the price so many days before now, the longest ago first."""
    for days, price in changes:
        type(row).objects.filter(pk=row.pk).update(price=Decimal(price), updated_at=NOW - timedelta(days=days))


def mug(shop, **given) -> Product:
    return make_product(shop, "Mug", price=Decimal("10.00"), compare_price=Decimal("12.00"), **given)


@pytest.mark.parametrize(
    ("changes", "lowest"),
    [
        ([], None),
        ([(5, "8.00")], "10.00"),
        # The reduction of five days ago: 9.00 was the price until then, and 7.00 until 25 days before that.
        ([(40, "7.00"), (30, "9.00"), (5, "8.00")], "7.00"),
        # Until 36 days before the reduction, so too long ago.
        ([(60, "7.00"), (41, "9.00"), (5, "8.00")], "9.00"),
        # A longer sale does not change what was before it.
        ([(400, "7.00"), (390, "9.00"), (380, "8.00")], "7.00"),
    ],
)
def test_the_lowest_of_the_30_days_before_the_present_price(shop, other_shop, page, changes, lowest):
    product = mug(shop)
    at_prices(other_shop, mug(other_shop), (9, "0.50"), (8, "3.00"))
    at_prices(shop, product, *changes)
    found = {None: Decimal(lowest)} if lowest else {}
    assert lowest_before(shop, product.pk, NOW) == found
    assert lowest_before(other_shop, product.pk, NOW) == {}
    text = page(f"/products/{product.slug}")
    assert (f"{TEXT}{lowest}" in text) if lowest else TEXT not in text


def test_a_price_that_is_not_reduced_says_nothing(shop, page, django_assert_num_queries):
    product = make_product(shop, "Mug", price=Decimal("10.00"))
    at_prices(shop, product, (5, "8.00"))
    assert TEXT not in page(f"/products/{product.slug}")


def test_each_variant_has_its_own(shop, page):
    scarf = make_product(shop, "Scarf")
    blue, _ = (make_variant(scarf, name, price=Decimal("5.00"), compare_price=Decimal("9.00")) for name in "BR")
    at_prices(shop, blue, (3, "4.00"))
    assert lowest_before(shop, scarf.pk, NOW) == {blue.pk: Decimal("5.00")}
    text = page(f"/products/{scarf.slug}")
    assert text.count('"lowest": "\\u20ac5.00"') + text.count('"lowest": "€5.00"') == 1
    assert text.count('"lowest": ""') == 1


def test_every_change_is_kept_and_goes_with_the_product(shop):
    product = mug(shop)
    actions.update_product(shop=shop, product=product, price=Decimal("8.00"), now=NOW)
    actions.update_product(shop=shop, product=product, name="Cup", now=NOW)
    assert list(PastPrice.objects.values_list("product", "variant", "price", "until")) == [
        (product.pk, None, Decimal("10.00"), NOW)
    ]
    product.delete()
    assert not PastPrice.objects.exists()

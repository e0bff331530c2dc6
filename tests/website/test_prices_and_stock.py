"""Price and availability on product cards and product pages."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import BundleItem
from tests.catalogue.factories import make_option, make_product, make_variant


def test_strikes_a_higher_former_price_through(shop, page):
    make_product(shop, "Cup", price="9.50", compare_price="12.00")
    assert "€12.00</s>" in page("/products")
    assert "€12.00</s>" in page("/products/cup")


@pytest.mark.parametrize("compare", ["9.50", "5.00", "0.00"])
def test_hides_a_former_price_that_was_not_higher(shop, page, compare):
    make_product(shop, "Cup", price="9.50", compare_price=compare)
    assert "price__old" not in page("/products/cup")


def test_variants_with_different_prices_show_a_range_or_the_lowest(shop, page):
    tea = make_product(shop, "Tea", price="0.00", show_lowest_price=True)
    cup = make_product(shop, "Cup", price="0.00")
    for product in (tea, cup):
        make_variant(product, "Small", price=Decimal("4.00"))
        make_variant(product, "Large", price=Decimal("7.00"))
        make_variant(product, "Inactive", price=Decimal("1.00"), is_active=False)
    assert 'From</span> <span class="price">€4.00' in page("/products/tea")
    assert "€4.00 – €7.00" in page("/products/cup")


def test_the_price_includes_the_least_that_required_options_add(shop, page):
    cup = make_product(shop, "Cup", price="0.00")
    make_option(cup, "Size", {"Small": "3.00", "Large": "5.00"}, required=True)
    assert 'From</span> <span class="price">€3.00' in page("/products")


@pytest.mark.parametrize(
    ("stock", "words"),
    [
        ({"stock_qty": 0}, "Sold out"),
        ({"stock_qty": 2, "low_stock_threshold": 3}, "Only 2 left"),
        ({"stock_qty": 0, "allow_backorders": True}, "On backorder"),
        ({"stock_qty": 5, "is_preorder": True}, "Pre-order"),
        ({"stock_qty": 0, "track_inventory": False}, "In stock"),
        ({"stock_qty": 4, "low_stock_threshold": 3}, "In stock"),
    ],
)
def test_shows_the_stock(shop, page, stock, words):
    make_product(shop, "Cup", **stock)
    assert words in page("/products/cup")


def test_a_sold_out_product_has_no_button(shop, page):
    make_product(shop, "Cup", stock_qty=0)
    assert "Add to basket" not in page("/products/cup")


def test_a_variable_product_is_sold_out_when_no_active_variant_sells(shop, page):
    cup = make_product(shop, "Cup", stock_qty=50)
    make_variant(cup, "Blue", stock_qty=0)
    make_variant(cup, "Red", stock_qty=9, is_active=False)
    assert "Sold out" in page("/products")
    assert "Add to basket" not in page("/products/cup")


def test_a_bundle_is_sold_out_when_an_item_is(shop, page):
    part = make_product(shop, "Honey", stock_qty=1)
    bundle = make_product(shop, "Box", type="bundle", stock_qty=0)
    item = BundleItem.objects.create(shop=shop, bundle=bundle, product=part, qty=1)
    assert "Add to basket" in page("/products/box")
    assert "Honey" in page("/products/box")
    item.qty = 2
    item.save()
    assert "Sold out" in page("/products/box")


def test_money_is_in_the_shop_s_currency(shop, page):
    shop.currency = "GBP"
    shop.save()
    make_product(shop, "Cup", price="1234.50")
    assert "£1,234.50" in page("/products/cup")

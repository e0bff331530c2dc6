"""Merchants change stock while orders come in: neither undoes the other."""

import threading

import pytest
from django.db import connections

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import StockUse, take_stock
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW
from tests.staff import Desk, admin_url, form_values, make_staff, open_desk


@pytest.fixture
def desk(shop) -> Desk:
    return open_desk(make_staff(shop))


def sell(shop, row, qty: int) -> None:
    kind = "variant" if isinstance(row, Variant) else "product"
    take_stock(shop=shop, uses=[StockUse(kind, row.pk, qty)], now=NOW)


def opened(desk, row) -> dict:
    """The form as somebody has it before them."""
    return form_values(desk.page(row))


def test_stock_that_was_not_touched_stays_as_sales_left_it(desk, shop):
    product = make_product(shop, "Mug", stock_qty=10)
    form = opened(desk, product)
    sell(shop, product, 3)
    assert desk.post(admin_url(product, "change"), {**form, "name": "Beaker"}).status_code == 302
    product.refresh_from_db()
    assert (product.name, product.stock_qty) == ("Beaker", 7)


def test_stock_that_came_in_is_added_to_what_sales_left(desk, shop):
    product = make_product(shop, "Mug", stock_qty=10)
    form = opened(desk, product)
    sell(shop, product, 3)
    desk.post(admin_url(product, "change"), {**form, "stock_qty": "15"})
    product.refresh_from_db()
    assert product.stock_qty == 12


def test_the_same_goes_for_variants_in_the_products_form_and_in_their_own(desk, shop):
    variant = make_variant(make_product(shop, "Scarf"), stock_qty=5)
    form, own = opened(desk, variant.product), opened(desk, variant)
    sell(shop, variant, 2)
    assert desk.post(admin_url(variant.product, "change"), {**form, "variants-0-price": "1.00"}).status_code == 302
    variant.refresh_from_db()
    assert variant.stock_qty == 3
    assert desk.post(admin_url(variant, "change"), {**own, "stock_qty": "6"}).status_code == 302
    variant.refresh_from_db()
    assert variant.stock_qty == 4


def test_a_field_that_was_not_touched_is_not_written(desk, shop):
    product = make_product(shop, "Mug", price="9.50")
    form = opened(desk, product)
    Product.objects.filter(pk=product.pk).update(low_stock_threshold=9)
    # The other merchant's change shows as a difference to the form, which is how Django reads every form.
    desk.post(admin_url(product, "change"), {**form, "low_stock_threshold": "9", "price": "10.00"})
    product.refresh_from_db()
    assert (product.low_stock_threshold, str(product.price)) == (9, "10.00")


def test_taking_away_more_than_sales_left_is_a_field_error(desk, shop):
    product = make_product(shop, "Mug", stock_qty=10)
    form = opened(desk, product)
    sell(shop, product, 8)
    page = desk.post(admin_url(product, "change"), {**form, "stock_qty": "5"})
    assert page.status_code == 200
    assert "stock_qty" in page.context_data["adminform"].form.errors
    product.refresh_from_db()
    assert product.stock_qty == 2


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_no_more_backorders_with_stock_below_zero_is_a_field_error(desk, shop, kind):
    product = make_product(shop, "Mug", stock_qty=-2, allow_backorders=True)
    row = product if kind == "product" else make_variant(product, stock_qty=-2, allow_backorders=True)
    form = opened(desk, row)
    del form["allow_backorders"]
    page = desk.post(admin_url(row, "change"), form)
    assert page.status_code == 200
    assert "below zero" in page.context_data["adminform"].form.errors["stock_qty"][0]
    # Bringing the stock up in the same form is the way out.
    assert desk.post(admin_url(row, "change"), {**form, "stock_qty": "0"}).status_code == 302
    row.refresh_from_db()
    assert (row.stock_qty, row.allow_backorders) == (0, False)


@pytest.mark.django_db(transaction=True)
def test_sales_race_with_a_merchant_who_adds_stock():
    from tests.shops.factories import make_shop

    shop = make_shop()
    desk, product = open_desk(make_staff(shop)), make_product(shop, "Mug", stock_qty=50)
    start = threading.Barrier(2)

    def sell_ten() -> None:
        try:
            start.wait()
            for _ in range(10):
                sell(shop, product, 1)
        finally:
            connections.close_all()

    seller = threading.Thread(target=sell_ten)
    seller.start()
    start.wait()
    answers = []
    for _ in range(5):
        form = opened(desk, product)
        form["stock_qty"] = str(int(form["stock_qty"]) + 1)
        answers.append(desk.post(admin_url(product, "change"), form).status_code)
    seller.join()
    product.refresh_from_db()
    assert answers == [302] * 5
    assert product.stock_qty == 50 - 10 + 5

"""Stock changes in the admin and concurrent sales do not overwrite each other."""

import pytest

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import StockUse, take_stock
from tests.catalogue.factories import make_product, make_variant
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import admin_url, form_values, make_staff, open_desk

pytestmark = pytest.mark.slow


def sell(shop, row, qty: int) -> None:
    kind = "variant" if isinstance(row, Variant) else "product"
    take_stock(shop=shop, uses=[StockUse(kind, row.pk, qty)], now=NOW)


def opened(desk, row) -> dict:
    """The values of the form as it was opened."""
    return form_values(desk.page(row))


def test_unchanged_stock_is_not_written(desk, shop):
    product = make_product(shop, "Mug", stock_qty=10)
    form = opened(desk, product)
    sell(shop, product, 3)
    assert desk.post(admin_url(product, "change"), {**form, "name": "Beaker"}).status_code == 302
    product.refresh_from_db()
    assert (product.name, product.stock_qty) == ("Beaker", 7)


def test_a_stock_change_is_added_to_the_current_stock(desk, shop):
    product = make_product(shop, "Mug", stock_qty=10)
    form = opened(desk, product)
    sell(shop, product, 3)
    desk.post(admin_url(product, "change"), {**form, "stock_qty": "15"})
    product.refresh_from_db()
    assert product.stock_qty == 12


def test_stock_of_variants_is_changed_by_difference_in_both_forms(desk, shop):
    variant = make_variant(make_product(shop, "Scarf"), stock_qty=5)
    form, own = opened(desk, variant.product), opened(desk, variant)
    sell(shop, variant, 2)
    assert desk.post(admin_url(variant.product, "change"), {**form, "variants-0-price": "1.00"}).status_code == 302
    variant.refresh_from_db()
    assert variant.stock_qty == 3
    assert desk.post(admin_url(variant, "change"), {**own, "stock_qty": "6"}).status_code == 302
    variant.refresh_from_db()
    assert variant.stock_qty == 4


def test_a_field_that_was_not_changed_is_not_written(desk, shop):
    product = make_product(shop, "Mug", price="9.50")
    form = opened(desk, product)
    Product.objects.filter(pk=product.pk).update(low_stock_threshold=9)
    # The other merchant's change shows as a difference to the form, which is how Django reads every form.
    desk.post(admin_url(product, "change"), {**form, "low_stock_threshold": "9", "price": "10.00"})
    product.refresh_from_db()
    assert (product.low_stock_threshold, str(product.price)) == (9, "10.00")


def test_removing_more_than_is_left_is_a_field_error(desk, shop):
    product = make_product(shop, "Mug", stock_qty=10)
    form = opened(desk, product)
    sell(shop, product, 8)
    page = desk.post(admin_url(product, "change"), {**form, "stock_qty": "5"})
    assert page.status_code == 200
    assert "stock_qty" in page.context_data["adminform"].form.errors
    product.refresh_from_db()
    assert product.stock_qty == 2


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_backorders_can_end_with_stock_below_zero(desk, shop, kind):
    product = make_product(shop, "Mug", stock_qty=-2, allow_backorders=True)
    row = product if kind == "product" else make_variant(product, stock_qty=-2, allow_backorders=True)
    form = opened(desk, row)
    del form["allow_backorders"]
    assert desk.post(admin_url(row, "change"), form).status_code == 302
    row.refresh_from_db()
    assert (row.stock_qty, row.allow_backorders, row.can_sell(1)) == (-2, False, False)
    form = opened(desk, row)
    # It can rise, as when pieces arrive, but not fall further.
    page = desk.post(admin_url(row, "change"), {**form, "stock_qty": "-3"})
    assert "below zero" in page.context_data["adminform"].form.errors["stock_qty"][0]
    assert desk.post(admin_url(row, "change"), {**form, "stock_qty": "-1"}).status_code == 302
    row.refresh_from_db()
    assert row.stock_qty == -1


@pytest.mark.django_db(transaction=True)
def test_sales_race_with_a_merchant_who_adds_stock():
    from tests.shops.factories import make_shop

    shop = make_shop()
    desk, product = open_desk(make_staff(shop)), make_product(shop, "Mug", stock_qty=50)

    def sell_ten() -> None:
        for _ in range(10):
            sell(shop, product, 1)

    def add_five() -> list[int]:
        answers = []
        for _ in range(5):
            form = opened(desk, product)
            form["stock_qty"] = str(int(form["stock_qty"]) + 1)
            answers.append(desk.post(admin_url(product, "change"), form).status_code)
        return answers

    _, answers = run_concurrently(sell_ten, add_five)
    product.refresh_from_db()
    assert answers == [302] * 5
    assert product.stock_qty == 50 - 10 + 5

"""Merchants see who put which stock right, apps and staff alike."""

import pytest

from storefront.catalogue.models import Product, StockAdjustment
from tests.catalogue.factories import make_product, make_variant
from tests.factories.apps import install
from tests.staff import Desk, admin_url, make_staff, open_desk


@pytest.fixture
def desk(shop) -> Desk:
    return open_desk(make_staff(shop))


def adjustments(shop) -> list[tuple]:
    return [(row.delta, row.stock_after, row.reason, row.made_by) for row in StockAdjustment.objects.filter(shop=shop)]


def test_what_an_app_put_right_is_listed_and_on_the_products_page(shop, desk):
    mug = make_product(shop, "Mug", stock_qty=10)
    app = install(shop, "write_inventory")
    app.api.post("/inventory/adjustments", {"product_id": mug.pk, "delta": -2, "reason": "Two broke"})
    for page in (desk.get(admin_url(StockAdjustment, "changelist")), desk.page(mug)):
        text = page.content.decode()
        assert "Two broke" in text
        assert str(app.installation.app) in text
        assert "-2" in text


def test_stock_that_a_merchant_changes_in_a_form_is_noted_with_who_it_was(shop, desk):
    mug = make_product(shop, "Mug", stock_qty=10)
    blue = make_variant(make_product(shop, "Shirt"), stock_qty=5)
    desk.fill(mug, stock_qty="12")
    desk.fill(mug, price="8.00")
    desk.fill(blue, stock_qty="4")
    assert adjustments(shop) == [(-1, 4, "Changed in the admin", "anna"), (2, 12, "Changed in the admin", "anna")]
    assert StockAdjustment.objects.first().variant == blue


def test_a_new_products_stock_is_no_adjustment(shop, desk):
    desk.fill(Product, name="Mug", price="9.50", stock_qty="3", track_inventory="on")
    assert Product.objects.filter(shop=shop).exists()
    assert adjustments(shop) == []


def test_nobody_writes_them_by_hand(shop, desk):
    assert desk.get(admin_url(StockAdjustment, "add")).status_code == 403

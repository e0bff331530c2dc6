"""The admin shows who adjusted which stock, apps and staff alike."""

import pytest

from storefront.catalogue.models import Product, StockAdjustment
from tests.catalogue.factories import make_product, make_variant
from tests.factories.apps import install
from tests.staff import Desk, admin_url, make_staff, open_desk


def adjustments(shop) -> list[tuple]:
    rows = StockAdjustment.objects.filter(shop=shop, user__isnull=False)
    return [(row.delta, row.stock_after, row.kind, row.made_by) for row in rows]


def test_an_apps_adjustment_is_listed_and_on_the_products_page(shop, desk):
    mug = make_product(shop, "Mug", stock_qty=10)
    app = install(shop, "write_inventory")
    app.api.post("/inventory/adjustments", {"product_id": mug.pk, "delta": -2, "reason": "Two broke"})
    for page in (desk.get(admin_url(StockAdjustment, "changelist")), desk.page(mug)):
        text = page.content.decode()
        assert "Two broke" in text
        assert str(app.installation.app) in text
        assert "-2" in text


@pytest.mark.slow
def test_a_stock_change_in_a_form_is_recorded_with_its_author(shop, desk):
    mug = make_product(shop, "Mug", stock_qty=10)
    blue = make_variant(make_product(shop, "Shirt"), stock_qty=5)
    desk.fill(mug, stock_qty="12")
    desk.fill(mug, price="8.00")
    desk.fill(blue, stock_qty="4")
    assert adjustments(shop) == [(-1, 4, "edited", "anna"), (2, 12, "edited", "anna")]
    assert StockAdjustment.objects.first().variant == blue


def test_a_new_products_stock_is_recorded_too(shop, desk):
    desk.fill(Product, name="Mug", price="9.50", stock_qty="3", track_inventory="on")
    assert Product.objects.filter(shop=shop).exists()
    assert adjustments(shop) == [(3, 3, "edited", "anna")]


def test_adjustments_cannot_be_added_by_hand(shop, desk):
    assert desk.get(admin_url(StockAdjustment, "add")).status_code == 403


def packer(shop) -> Desk:
    return open_desk(make_staff(shop, "finn", "fulfilment"))


def adjust(desk: Desk, row, **given) -> str:
    answer = desk.post(admin_url(row, "adjust"), {"_form_submitted": "on", **given}, follow=True)
    return answer.content.decode()


@pytest.mark.slow
def test_the_fulfilment_role_can_change_only_the_stock(shop):
    mug = make_product(shop, "Mug", stock_qty=5)
    desk = packer(shop)
    assert "Adjust stock" in desk.page(mug).content.decode()
    assert desk.post(admin_url(mug, "change"), {"name": "Cup", "stock_qty": 99}).status_code == 403
    assert "Stock adjusted." in adjust(desk, mug, delta="-3", reason="Broken")
    mug.refresh_from_db()
    assert (mug.name, mug.stock_qty) == ("Mug", 2)
    written = StockAdjustment.objects.get(kind="adjusted")
    assert (written.delta, written.reason, written.user.username) == (-3, "Broken", "finn")


def test_a_variant_is_adjusted_on_its_own_page(shop):
    blue = make_variant(make_product(shop, "Scarf"), "Blue", stock_qty=1)
    desk = packer(shop)
    adjust(desk, blue, delta="4", reason="Came in")
    blue.refresh_from_db()
    assert blue.stock_qty == 5
    # A product with variants has no stock of its own.
    assert "Adjust stock" not in desk.page(blue.product).content.decode()
    assert "Scarf has variants. Adjust the stock of a variant." in adjust(
        desk, blue.product, delta="1", reason="Came in"
    )


@pytest.mark.parametrize("given", [{"delta": "-6", "reason": "Gone"}, {"delta": "x", "reason": "?"}, {"delta": "1"}])
def test_an_invalid_adjustment_changes_nothing(shop, given):
    mug = make_product(shop, "Mug", stock_qty=5)
    adjust(packer(shop), mug, **given)
    mug.refresh_from_db()
    assert mug.stock_qty == 5
    assert not StockAdjustment.objects.filter(kind="adjusted").exists()


def test_another_shops_stock_is_not_adjusted(shop, other_shop):
    theirs = make_product(other_shop, "Mug", stock_qty=5)
    assert packer(shop).post(admin_url(theirs, "adjust"), {"_form_submitted": "on", "delta": "1"}).status_code == 404


def test_a_list_that_is_not_counted_names_no_count(shop, desk):
    make_product(shop, "Mug", stock_qty=10)
    page = desk.get(admin_url(StockAdjustment, "changelist")).content.decode()
    assert "+10" in page
    assert "9999999" not in page

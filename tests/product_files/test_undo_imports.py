"""An import is undone: what it changed goes back where nothing changed since, and the rest stays and is named."""

from datetime import timedelta
from decimal import Decimal

import pytest

from storefront.catalogue import actions
from storefront.catalogue.inventory.ledger import Kind, stock_changes
from storefront.catalogue.models import Brand, Category, Media, Product, StockAdjustment, Variant
from storefront.catalogue.stock import StockUse, take_stock
from storefront.kit.deviations import Deviation
from storefront.product_files.models import ImportedChange
from storefront.product_files.undoing import NotUndoable, delete_old_journals, preview
from storefront.server.verifying import deviations
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product, make_variant
from tests.orders.factories import make_order, sale_line
from tests.product_files.files import as_lines, exported
from tests.product_files.undo import import_kept, undo
from tests.shops.factories import NOW

MUG = {"slug": "mug", "name": "Mug", "price": "9.50", "stock_qty": 10, "status": "active"}
CHANGED = {
    **MUG,
    "name": "Large mug",
    "price": "12.00",
    "stock_qty": 7,
    "brand": "Kiln",
    "tags": ["new"],
    "categories": [{"path": "Kitchen > Cups"}],
    "media": [{"url": "https://pictures.example.com/mug.png"}],
    "attributes": [{"name": "Clay", "values": ["Red"]}],
}


def deviations_of(shop) -> list[Deviation]:
    return list(deviations(shop))


def test_every_value_goes_back_and_new_products_are_deleted(shop, other_shop, tmp_path):
    make_product(shop, "Mug")
    theirs = make_product(other_shop, "Mug")
    before, others = exported(shop), exported(other_shop)
    row, report = import_kept(shop, as_lines(CHANGED, {"name": "Jug", "price": "4.00"}), tmp_path)
    assert (report.updated, report.created) == (1, 1)
    assert exported(shop) != before
    result = undo(shop, row)
    assert exported(shop) == before
    assert exported(other_shop) == others
    assert (result.left, result.reasons) == (0, [])
    # The mug, the jug, two categories and the brand.
    assert result.undone == 5
    assert not Category.objects.exists()
    assert not Brand.objects.exists()
    row.refresh_from_db()
    assert (row.state, row.undo_result["undone"]) == ("undone", 5)
    assert deviations_of(shop) == []
    theirs.refresh_from_db()
    assert theirs.updated_at == NOW


def test_variants_options_and_lists_go_back(shop, tmp_path):
    mug = make_product(shop, "Mug", price="12.00")
    make_variant(mug, "Blue")
    make_variant(mug, "Red")
    before = exported(shop)
    changed = {
        "slug": "mug",
        "name": "Mug",
        "variants": [
            {"name": "Blue", "option_values": {"Colour": "Blue"}, "price": "1.00", "stock_qty": 1},
            {"name": "Green", "option_values": {"Colour": "Green"}, "price": "3.00"},
        ],
        "options": [{"name": "Engraving", "type": "select", "values": [{"label": "Gold", "price": "5.00"}]}],
    }
    row, report = import_kept(shop, as_lines(changed), tmp_path)
    assert report.updated == 1
    assert Variant.objects.filter(product=mug, is_active=True).count() == 2
    undo(shop, row)
    assert exported(shop) == before
    assert Variant.objects.filter(product=mug).count() == 2
    assert deviations_of(shop) == []


def test_a_product_that_changed_since_stays_whole_and_is_named(shop, tmp_path):
    mug, jug = make_product(shop, "Mug"), make_product(shop, "Jug", price="4.00")
    row, _ = import_kept(shop, as_lines(CHANGED, {"slug": "jug", "name": "Jug", "price": "5.00"}), tmp_path)
    actions.update_product(shop=shop, product=mug, now=NOW, price=Decimal("12.50"))
    result = undo(shop, row)
    mug.refresh_from_db()
    jug.refresh_from_db()
    assert (mug.name, mug.price, jug.price) == ("Large mug", Decimal("12.50"), Decimal("4.00"))
    assert "Large mug: its price changed since" in result.reasons


def test_what_the_import_did_not_touch_may_have_changed(shop, tmp_path):
    mug = make_product(shop, "Mug")
    row, _ = import_kept(shop, as_lines({**MUG, "price": "12.00"}), tmp_path)
    actions.update_product(shop=shop, product=mug, now=NOW, description="Blue")
    assert undo(shop, row).left == 0
    mug.refresh_from_db()
    assert (mug.price, mug.description) == (Decimal("9.50"), "Blue")


def test_stock_that_was_sold_since_stays_sold(shop, tmp_path):
    mug = make_product(shop, "Mug")
    row, _ = import_kept(shop, as_lines({**MUG, "stock_qty": 7}), tmp_path)
    take_stock(shop=shop, uses=[StockUse("product", mug.pk, 2)], now=NOW)
    assert undo(shop, row).left == 0
    mug.refresh_from_db()
    assert mug.stock_qty == 8
    last = StockAdjustment.objects.filter(product=mug).first()
    assert (last.kind, last.delta, last.reason, last.reference) == ("imported", 3, "Import undone", "products")
    assert deviations_of(shop) == []


def test_stock_that_was_counted_since_stays(shop, tmp_path):
    mug = make_product(shop, "Mug")
    row, _ = import_kept(shop, as_lines({**MUG, "stock_qty": 7, "price": "1.00"}), tmp_path)
    with stock_changes(Kind.ADJUSTED, now=NOW):
        Product.objects.filter(pk=mug.pk).update(stock_qty=5)
    assert undo(shop, row).reasons == ["Mug: its stock changed since"]
    mug.refresh_from_db()
    assert (mug.stock_qty, mug.price) == (5, Decimal("1.00"))


def test_stock_never_falls_below_zero(shop, tmp_path):
    mug = make_product(shop, "Mug", stock_qty=1)
    row, _ = import_kept(shop, as_lines({**MUG, "stock_qty": 7}), tmp_path)
    take_stock(shop=shop, uses=[StockUse("product", mug.pk, 3)], now=NOW)
    assert undo(shop, row).reasons == ["Mug: a value that it had cannot be restored any more"]
    mug.refresh_from_db()
    assert mug.stock_qty == 4


def test_new_products_that_were_sold_or_changed_since_stay(shop, tmp_path):
    lines = as_lines(*({"name": name, "price": "4.00"} for name in ("Sold", "Changed", "Jug")))
    row, _ = import_kept(shop, lines, tmp_path)
    sold, changed = Product.objects.get(name="Sold"), Product.objects.get(name="Changed")
    make_order(shop, sale_line(sold))
    actions.update_product(shop=shop, product=changed, now=NOW, description="Blue")
    result = undo(shop, row)
    assert set(Product.objects.filter(deleted_at=None)) == {sold, changed}
    assert sorted(result.reasons) == ["Changed: it was changed since", "Sold: it was sold since"]
    assert (result.undone, result.left) == (1, 2)


def test_a_fetched_picture_is_no_change(shop, tmp_path):
    make_product(shop, "Mug")
    before = exported(shop)
    row, _ = import_kept(shop, as_lines(CHANGED), tmp_path)
    Media.objects.update(file="products/1/a.png", width=3, height=4)
    assert undo(shop, row).left == 0
    assert exported(shop) == before


def test_a_slug_that_another_product_has_now_is_not_taken_back(shop, tmp_path):
    mug = make_product(shop, "Mug", sku="M")
    row, _ = import_kept(shop, as_lines({**MUG, "sku": "M", "price": "1.00"}), tmp_path)
    ImportedChange.objects.filter(kind="updated").update(
        content={"product": {"changed": {str(mug.pk): {"slug": ["cup", "mug"]}}}}
    )
    make_product(shop, "Cup")
    assert undo(shop, row).left == 1
    mug.refresh_from_db()
    assert mug.slug == "mug"


def test_related_products_go_back(shop, tmp_path):
    for name in ("Mug", "Jug", "Cup"):
        make_product(shop, name)
    import_kept(shop, as_lines({**MUG, "up_sells": ["jug"]}), tmp_path)
    before = exported(shop)
    row, _ = import_kept(shop, as_lines({**MUG, "up_sells": ["cup", "jug"]}), tmp_path)
    assert exported(shop) != before
    assert undo(shop, row).counts() == {"undone": 1, "left": 0}
    assert exported(shop) == before


def test_a_preview_changes_nothing_and_finds_the_same(shop, tmp_path):
    mug = make_product(shop, "Mug")
    row, _ = import_kept(shop, as_lines(CHANGED, {"name": "Jug", "price": "4.00"}), tmp_path)
    actions.update_product(shop=shop, product=mug, now=NOW, name="Cup")
    before = exported(shop)
    expected = preview(shop=shop, row=row, now=NOW)
    assert exported(shop) == before
    assert "Cup: its name changed since" in expected.reasons
    assert undo(shop, row).counts() == expected.counts()


def test_it_is_undone_once_and_for_seven_days(shop, tmp_path):
    make_product(shop, "Mug")
    row, _ = import_kept(shop, as_lines(CHANGED), tmp_path)
    with pytest.raises(NotUndoable, match="for 7 days"):
        undo(shop, row, now=NOW + timedelta(days=8))
    assert delete_old_journals(now=NOW + timedelta(days=7, hours=23), limit=100) == 0
    undo(shop, row)
    with pytest.raises(NotUndoable, match="undone already"):
        undo(shop, row)
    assert AuditEntry.objects.filter(action="import.undone").count() == 1
    assert delete_old_journals(now=NOW + timedelta(days=9), limit=100) == 4
    assert not ImportedChange.objects.exists()


def test_an_import_without_changes_has_nothing_to_undo(shop, tmp_path):
    make_product(shop, "Mug")
    row, report = import_kept(shop, as_lines({"slug": "mug", "name": "Mug", "price": "9.50"}), tmp_path)
    assert report.skipped == 1
    with pytest.raises(NotUndoable, match="changed nothing"):
        undo(shop, row)

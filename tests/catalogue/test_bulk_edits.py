"""Products edited together in the admin: shown before, done to all or to none, told in the audit log and the ledger."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue import bulk_edits
from storefront.catalogue.bulk_edits import BulkEdit, ChangedSince, EditRefused, TooManyProducts
from storefront.catalogue.inventory.ledger import NOBODY
from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.shops.factories import NOW


def edit(desk, *rows, follow_up="apply", **given):
    """The answer after the preview, or to the change that it shows."""
    sent = {f"edit-{name}": value for name, value in given.items()}
    shown = desk.choose(Product, "edit_chosen", *rows, **sent, **{"edit-step": "preview"})
    if follow_up != "apply":
        return shown
    digest = {"edit-digest": shown.context_data["digest"], "edit-step": "apply"}
    return desk.choose(Product, "edit_chosen", *rows, **sent, **digest)


def test_price_stock_status_and_categories_of_several_change_as_shown(desk, shop, other_shop):
    cups, sale = make_category(shop, "Cups"), make_category(shop, "Sale")
    mug = make_product(shop, "Mug", price="9.99", stock_qty=4, categories=(cups,), status="draft")
    scarf = make_product(shop, "Scarf", price="0.00", type="variable")
    blue = make_variant(scarf, "Blue", price=Decimal("12.00"), stock_qty=5)
    free = make_product(shop, "Leaflet", price="1.00", track_inventory=False, stock_qty=0)
    theirs = make_product(other_shop, "Theirs", price="9.99")
    asked = {"price_how": "percent", "price": "-10", "stock_how": "by", "stock": "3", "status": "active"}
    asked |= {"add_category": sale.pk, "remove_category": cups.pk}
    shown = edit(desk, mug, scarf, free, theirs, follow_up="nothing", **asked)
    assert [(row[0].name, *row[1:]) for row in shown.context_data["lines"]] == [
        ("Mug", "price", "", "9.99", "8.99"),
        ("Mug", "stock", "", "4", "7"),
        ("Mug", "status", "", "Draft", "Active"),
        ("Mug", "categories", "", "Cups", "Sale"),
        ("Scarf", "price", "Blue", "12.00", "10.80"),
        ("Scarf", "stock", "Blue", "5", "8"),
        ("Scarf", "categories", "", "none", "Sale"),
        ("Leaflet", "price", "", "1.00", "0.90"),
        ("Leaflet", "categories", "", "none", "Sale"),
    ]
    assert "3 of 3 products will change" in shown.content.decode()
    mug.refresh_from_db()
    assert (mug.price, mug.status) == (Decimal("9.99"), "draft")
    before = set(AuditEntry.objects.values_list("pk", flat=True))
    answer = edit(desk, mug, scarf, free, theirs, **asked)
    assert "3 products were changed." in answer.content.decode()
    for row in (mug, blue, theirs, free):
        row.refresh_from_db()
    assert (mug.price, mug.stock_qty, mug.status) == (Decimal("8.99"), 7, "active")
    assert (blue.price, blue.stock_qty, free.stock_qty, theirs.price) == (Decimal("10.80"), 8, 0, Decimal("9.99"))
    assert [category.name for category in mug.categories.all()] == ["Sale"]
    told = AuditEntry.objects.exclude(pk__in=before)
    assert {(entry.action, entry.object_id) for entry in told} == {
        ("product.updated", mug.pk),
        ("product.updated", scarf.pk),
        ("product.updated", free.pk),
    }
    ledger = StockAdjustment.objects.filter(delta=3)
    assert {(row.kind, row.user.username) for row in ledger} == {("edited", "anna")}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "__all__"),
        ({"price_how": "set"}, "price"),
        ({"price": "5"}, "price_how"),
        ({"price_how": "set", "price": "-1"}, "price"),
        ({"price_how": "percent", "price": "-101"}, "price"),
        ({"stock_how": "by", "stock": "x"}, "stock"),
        ({"price_how": "by", "price": "-5.00"}, "__all__"),
        ({"stock_how": "by", "stock": "-5"}, "__all__"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(desk, shop, given, field):
    mug = make_product(shop, "Mug", price="4.00", stock_qty=4)
    page = edit(desk, mug, follow_up="nothing", **given)
    assert field in page.context_data["bulk"].errors
    assert not page.context_data["planned"]


def test_one_that_cannot_be_changed_stops_all(shop):
    mug = make_product(shop, "Mug", price="9.00")
    make_product(shop, "Cup", price="9.00", sale_price="8.00", regular_compare_price="0.00")
    make_product(shop, "Book", type="digital", status="draft")
    rows = Product.objects.filter(shop=shop)
    for asked in (BulkEdit(price=("by", Decimal(1))), BulkEdit(status="active")):
        with pytest.raises(EditRefused, match=r"Cup|Book"):
            bulk_edits.plan_edit(shop, rows, asked)
    mug.refresh_from_db()
    assert mug.price == 9


def test_a_change_is_done_once_and_only_as_it_was_shown(shop, monkeypatch):
    mug = make_product(shop, "Mug", price="10.00")
    rows, asked = Product.objects.filter(pk=mug.pk), BulkEdit(price=("percent", Decimal(10)))
    digest = bulk_edits.digest_of(bulk_edits.plan_edit(shop, rows, asked))
    given = {"shop": shop, "products": rows, "edit": asked, "digest": digest, "author": NOBODY, "now": NOW}
    assert bulk_edits.apply_edit(**given) == 1
    with pytest.raises(ChangedSince):
        bulk_edits.apply_edit(**given)
    mug.refresh_from_db()
    assert mug.price == 11
    monkeypatch.setattr(bulk_edits, "MAX_PRODUCTS", 0)
    with pytest.raises(TooManyProducts):
        bulk_edits.plan_edit(shop, rows, asked)


def test_no_more_products_are_read_than_can_be_edited_at_once(desk, shop, monkeypatch):
    mugs = [make_product(shop, f"Mug {number}") for number in range(4)]
    monkeypatch.setattr(bulk_edits, "MAX_PRODUCTS", 2)
    with CaptureQueriesContext(connection) as asked:
        shown = edit(desk, *mugs, follow_up="nothing", status="draft", select_across="1")
    assert "Choose at most" in shown.content.decode()
    ids_alone = [
        query["sql"]
        for query in asked
        if query["sql"].startswith('SELECT "catalogue_product"."id" ') and " FROM " in query["sql"][:60]
    ]
    assert ids_alone
    assert all(sql.endswith(" LIMIT 3") for sql in ids_alone), ids_alone


def test_a_preview_takes_few_queries_at_any_length(shop, django_assert_max_num_queries):
    for number in range(20):
        make_variant(make_product(shop, f"Scarf {number}", price="0.00"), "Blue")
    asked = BulkEdit(price=("by", Decimal(1)), stock=("set", 3))
    with django_assert_max_num_queries(4):
        planned = bulk_edits.plan_edit(shop, Product.objects.all(), asked)
    assert len(planned) == Variant.objects.count() == 20

"""Every change of products and stock emits an event, and nothing else does (R-HOOK-1)."""

import pytest
from django.db import connection, transaction

from storefront.catalogue import actions
from storefront.catalogue.models import Product
from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from storefront.kit.clock import timestamp
from storefront.kit.refusals import InvalidFields
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.product_files.files import as_lines, imported
from tests.shops.factories import NOW

# Queries of a sale besides one write for each stock: two for a savepoint, two that tell the ledger what it is, one for
# the events, and on SQLite one to invalidate caches, which PostgreSQL does after the commit.
SALE = 6 if connection.vendor == "sqlite" else 5


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, "read_products", "write_products", "read_inventory").api


def emitted(shop) -> list[tuple[str, dict]]:
    """The events since the last call, in order."""
    events = Event.objects.filter(shop=shop).order_by("pk")
    found = [(event.topic, event.data) for event in events]
    events.delete()
    return found


def topics(shop) -> list[str]:
    return [topic for topic, _ in emitted(shop)]


def read(app, product_id: int) -> dict:
    return app.get(f"/products/{product_id}").json()["product"]


def items(app, product) -> list[dict]:
    return app.get(f"/inventory?product_id={product.pk}").json()["inventory"]


def test_creating_changing_and_deleting_emit_the_products_record(shop, app):
    made = app.post("/products", {"name": "Mug", "stock_qty": 3}).json()["product"]
    mug = Product.objects.get(pk=made["id"])
    assert emitted(shop) == [("product.created", made), ("inventory.updated", items(app, mug)[0])]
    changed = app.patch(f"/products/{mug.pk}", {"price": "7.00"}).json()["product"]
    ((topic, data),) = emitted(shop)
    assert (topic, data) == ("product.updated", changed)
    assert next(iter(data)) == "id"
    app.delete(f"/products/{mug.pk}")
    ((topic, data),) = emitted(shop)
    assert topic == "product.deleted"
    assert data["deleted_at"] == data["updated_at"] is not None
    assert data | {"deleted_at": None, "updated_at": changed["updated_at"]} == changed


@pytest.mark.rule("R-HOOK-6")
def test_a_write_that_changes_nothing_emits_nothing(shop, app):
    mug = make_product(shop, "Mug", categories=(make_category(shop),), published_on=NOW)
    make_variant(mug)
    record = read(app, mug.pk)
    app.patch(f"/products/{mug.pk}", {})
    app.patch(f"/products/{mug.pk}", record | {"categories": [each["id"] for each in record["categories"]]})
    Product.objects.filter(pk=mug.pk).update(status="active")
    actions.set_status(shop=shop, products=Product.objects.filter(shop=shop), status="active", now=NOW)
    assert emitted(shop) == []


def test_a_stock_change_emits_only_inventory_updated(shop, app):
    mug = make_product(shop, "Mug", published_on=NOW)
    app.patch(f"/products/{mug.pk}", {"stock_qty": 4})
    assert emitted(shop) == [("inventory.updated", items(app, mug)[0])]
    shirt = make_product(shop, "Shirt", published_on=NOW)
    blue, red = make_variant(shirt, "Blue"), make_variant(shirt, "Red", sort_order=1)
    app.patch(f"/products/{shirt.pk}", {"variants": [{"id": blue.pk, "stock_qty": 1}, {"id": red.pk}]})
    assert emitted(shop) == [("inventory.updated", items(app, shirt)[0])]


def test_a_changed_sku_emits_both_events(shop, app):
    mug = make_product(shop, "Mug", published_on=NOW)
    app.patch(f"/products/{mug.pk}", {"sku": "M-1"})
    assert topics(shop) == ["product.updated", "inventory.updated"]


def test_a_sale_and_its_return_emit_every_stock(shop, app):
    mug, blue = make_product(shop, "Mug"), make_variant(make_product(shop, "Shirt"))
    uncounted = make_product(shop, "Download", track_inventory=False)
    uses = [StockUse("variant", blue.pk, 2), StockUse("product", mug.pk, 1), StockUse("product", uncounted.pk, 1)]
    taken = take_stock(shop=shop, uses=uses, now=NOW)
    events = emitted(shop)
    assert [(topic, data["id"], data["stock_qty"]) for topic, data in events] == [
        ("inventory.updated", f"p{mug.pk}", 9),
        ("inventory.updated", f"p{blue.product_id}-v{blue.pk}", 3),
    ]
    assert [data for _, data in events] == [*items(app, mug), *items(app, blue.product)]
    put_back_stock(shop=shop, uses=taken, now=NOW)
    assert [data["stock_qty"] for _, data in emitted(shop)] == [10, 5]


def test_a_sale_of_damaged_units_emits_an_event(shop):
    mug = make_product(shop, "Mug", damaged_qty=2)
    take_stock(shop=shop, uses=[StockUse("damaged", mug.pk, 1)], now=NOW)
    ((topic, data),) = emitted(shop)
    assert (topic, data["damaged_qty"], data["updated_at"]) == ("inventory.updated", 1, timestamp(NOW))


def test_damaged_units_of_a_product_are_shown_by_each_of_its_variants(shop, app):
    shirt = make_product(shop, "Shirt", damaged_qty=2)
    variants = [make_variant(shirt), make_variant(shirt)]
    take_stock(shop=shop, uses=[StockUse("damaged", shirt.pk, 1)], now=NOW)
    told = [data for _, data in emitted(shop)]
    assert told == items(app, shirt)
    assert [data["damaged_qty"] for data in told] == [1] * len(variants)


def test_stock_of_a_deleted_product_is_put_back_without_an_event(shop):
    mug = make_product(shop, "Mug", deleted_at=NOW)
    shirt = make_variant(make_product(shop, "Shirt", deleted_at=NOW))
    uses = [StockUse("product", mug.pk, 1), StockUse("variant", shirt.pk, 1)]
    put_back_stock(shop=shop, uses=uses, now=NOW)
    mug.refresh_from_db()
    assert (mug.stock_qty, emitted(shop)) == (11, [])


def test_events_of_a_sale_take_one_write(shop, django_assert_num_queries):
    counts = []
    for count in (2, 10):
        uses = [StockUse("product", make_product(shop).pk, 1) for _ in range(count)]
        with django_assert_num_queries(count + SALE) as counted:
            take_stock(shop=shop, uses=uses, now=NOW)
        counts.append(len(counted) - count)
        assert [data["stock_qty"] for _, data in emitted(shop)[-count:]] == [9] * count
    assert counts[0] == counts[1]


@pytest.mark.rule("R-HOOK-6")
def test_a_rolled_back_write_emits_nothing(shop, app):
    mug = make_product(shop, "Mug", stock_qty=1)
    bundle = make_product(shop, "Jug", stock_qty=0)
    with pytest.raises(InsufficientStock):
        take_stock(shop=shop, uses=[StockUse("product", mug.pk, 1), StockUse("product", bundle.pk, 1)], now=NOW)
    with pytest.raises(InvalidFields):
        actions.update_product(shop=shop, product=mug, now=NOW, name="Cup", price="x")
    with transaction.atomic():
        actions.update_product(shop=shop, product=mug, now=NOW, name="Cup")
        actions.create_product(shop=shop, now=NOW, name="New")
        transaction.set_rollback(True)
    assert emitted(shop) == []
    mug.refresh_from_db()
    assert (mug.name, mug.stock_qty) == ("Mug", 1)


def test_set_status_emits_only_changed_products(shop, app, monkeypatch):
    monkeypatch.setattr("storefront.catalogue.events.BATCH_ROWS", 2)
    drafts = [make_product(shop, status="draft") for _ in range(3)]
    make_product(shop, status="active")
    actions.set_status(shop=shop, products=Product.objects.filter(shop=shop), status="active", now=NOW)
    assert emitted(shop) == [("product.updated", read(app, product.pk)) for product in drafts]


def test_restoring_emits_product_created(shop, app):
    mug = make_product(shop, "Mug", deleted_at=NOW)
    actions.restore_product(shop=shop, product=mug, now=NOW)
    assert emitted(shop) == [("product.created", read(app, mug.pk)), ("inventory.updated", items(app, mug)[0])]


@pytest.mark.slow
def test_changes_in_the_admin_emit_the_same_events(shop, app, desk):
    desk.fill(Product, name="Mug", price="9.50", status="active", stock_qty="3", track_inventory="on")
    mug = Product.objects.get(shop=shop)
    assert emitted(shop) == [("product.created", read(app, mug.pk)), ("inventory.updated", items(app, mug)[0])]
    desk.fill(mug, price="8.00")
    assert emitted(shop) == [("product.updated", read(app, mug.pk))]
    desk.fill(mug, stock_qty="5")
    assert emitted(shop) == [("inventory.updated", items(app, mug)[0])]
    desk.fill(mug)
    assert emitted(shop) == []
    desk.choose(Product, "archive", mug)
    assert topics(shop) == ["product.updated"]
    desk.post(f"/admin/catalogue/product/{mug.pk}/delete/", {"post": "yes"})
    assert topics(shop) == ["product.deleted"]


def test_a_change_on_the_variants_page_emits_an_event(shop, app, desk):
    blue = make_variant(make_product(shop, "Shirt", published_on=NOW))
    desk.fill(blue, stock_qty="9")
    assert emitted(shop) == [("inventory.updated", items(app, blue.product)[0])]
    desk.fill(blue, price="13.00")
    assert emitted(shop) == [("product.updated", read(app, blue.product_id))]


@pytest.mark.rule("R-HOOK-20")
def test_an_import_emits_events_if_an_app_is_installed(shop, app, tmp_path):
    file = {"name": "Mug", "slug": "mug", "price": "9.50", "stock_qty": 3}
    imported(shop, as_lines(file), tmp_path)
    mug = Product.objects.get(shop=shop)
    assert emitted(shop) == [("product.created", read(app, mug.pk)), ("inventory.updated", items(app, mug)[0])]
    imported(shop, as_lines(file), tmp_path, update=True)
    assert emitted(shop) == []
    imported(shop, as_lines(file | {"price": "8.00", "stock_qty": 4}), tmp_path, update=True)
    assert emitted(shop) == [("product.updated", read(app, mug.pk)), ("inventory.updated", items(app, mug)[0])]


@pytest.mark.rule("R-HOOK-20")
def test_an_import_emits_nothing_without_an_installed_app(shop, other_shop, tmp_path):
    install(other_shop, "read_products")
    for price in ("9.50", "8.00"):
        imported(shop, as_lines({"name": "Mug", "slug": "mug", "price": price}), tmp_path, update=True)
    assert Product.objects.filter(shop=shop).exists()
    assert not Event.objects.exists()


def test_another_shop_gets_no_events(shop, other_shop):
    actions.create_product(shop=shop, now=NOW, name="Mug")
    assert emitted(other_shop) == []

"""Lists by the last change of a product, which stands outside the product's row (`LastChange`)."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.actions import delete_product
from storefront.catalogue.app_queries import product_page
from storefront.catalogue.models import LastChange, Product
from storefront.catalogue.stock import StockUse, put_back_stock, take_stock
from storefront.catalogue.verifying import deviations
from tests.catalogue.factories import make_product, make_variant
from tests.catalogue.test_list_indexes import plan_of
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import NOW

LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def app(shop) -> ApiClient:
    return ApiClient(install(shop, "read_products").token, prefix="/api/apps")


def listed(app: ApiClient, query: str = "") -> list[str]:
    return [each["name"] for each in app.get(f"/products{query}").json()["products"]]


@pytest.mark.parametrize("change", [take_stock, put_back_stock])
def test_a_sold_product_comes_first(shop, app, change):
    mug, _pot = make_product(shop, "Mug", stock_qty=5), make_product(shop, "Pot", stock_qty=5)
    assert listed(app) == ["Pot", "Mug"]
    change(shop=shop, uses=[StockUse("product", mug.pk, 1)], now=LATER)
    assert listed(app) == ["Mug", "Pot"]
    assert listed(app, f"?updated_since={LATER:%FT%TZ}") == ["Mug"]


def test_several_products_of_a_sale_come_first(shop, app):
    cup, mug, _pot = (make_product(shop, name, stock_qty=5) for name in ("Cup", "Mug", "Pot"))
    take_stock(shop=shop, uses=[StockUse("product", each.pk, 1) for each in (mug, cup)], now=LATER)
    assert listed(app) == ["Mug", "Cup", "Pot"]


def test_whoever_writes_is_noticed(shop, app):
    mug, _pot = make_product(shop, "Mug"), make_product(shop, "Pot")
    Product.objects.filter(pk=mug.pk).update(updated_at=LATER)
    assert listed(app) == ["Mug", "Pot"]
    Product.objects.bulk_create([Product(**_columns(mug), slug="cup", updated_at=LATER + timedelta(seconds=1))])
    assert LastChange.objects.filter(shop=shop).count() == 3
    assert LastChange.objects.filter(shop=shop).latest("updated_at").product.slug == "cup"


def test_a_status_alone_is_noticed(shop, app):
    mug, pot = make_product(shop, "Mug"), make_product(shop, "Pot", deleted_at=NOW)
    for status in ("draft", "archived"):
        Product.objects.update(status=status)
        assert listed(app, f"?status={status}") == ["Mug"]
    assert listed(app, "?status=draft") == []
    Product.objects.filter(pk=pot.pk).update(deleted_at=None)
    assert listed(app, "?status=archived") == ["Pot", "Mug"]
    assert list(deviations(shop)) == []
    LastChange.objects.filter(pk=mug.pk).update(status="draft")
    assert [each[:4] for each in deviations(shop)] == [("listed status", "product mug", "draft", "archived")]


def test_lists_of_a_status_read_no_product(shop):
    """Products are read for the page alone: a list of few among many would read them all otherwise."""
    make_product(shop, "Mug")
    with CaptureQueriesContext(connection) as queries:
        product_page(shop, status="draft", q="", updated_since=NOW, start=0, count=24, now=LATER)
    found = [each["sql"] for each in queries if "catalogue_lastchange" in each["sql"]]
    assert len(found) == 2
    assert not any("catalogue_product" in each for each in found)


def test_a_deleted_product_leaves_the_list_until_it_is_restored(shop, app):
    mug, pot = make_product(shop, "Mug"), make_product(shop, "Pot")
    delete_product(shop=shop, product=mug, now=LATER)
    assert listed(app) == ["Pot"]
    Product.objects.filter(pk=mug.pk).update(deleted_at=None)
    assert listed(app) == ["Mug", "Pot"]
    pot.delete()
    assert [row.product_id for row in LastChange.objects.all()] == [mug.pk]


def test_deleted_products_are_still_listed_to_staff_who_ask_for_them(shop, desk):
    mug = make_product(shop, "Red mug", deleted_at=NOW)
    make_product(shop, "Blue pot")
    text = desk.get("/admin/catalogue/product/?deleted=yes").content.decode()
    assert mug.name in text
    assert "Blue pot" not in text
    text = desk.get("/admin/catalogue/product/").content.decode()
    assert mug.name not in text
    assert "Blue pot" in text


def test_lists_find_the_newest_changes_by_an_index(shop):
    make_product(shop, "Mug")
    newest = Product.objects.filter(shop=shop, deleted_at=None, last_change__shop=shop)
    rows = newest.order_by("-last_change__updated_at", "-last_change__product_id").values("pk")[:24]
    assert "last_change_newest" in plan_of(*rows.query.sql_with_params())


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no HOT updates")
def test_a_sale_writes_to_no_index_of_the_product(shop):
    """Otherwise PostgreSQL writes an entry to every one of some twenty indexes."""
    mug = make_variant(make_product(shop, "Mug"), stock_qty=5).product
    pot = make_product(shop, "Pot", stock_qty=5)
    uses = [StockUse("product", pot.pk, 1), StockUse("variant", mug.variants.get().pk, 1)]
    for table in ("catalogue_product", "catalogue_variant"):
        before = _updates(table)
        take_stock(shop=shop, uses=uses, now=LATER)
        put_back_stock(shop=shop, uses=uses, now=LATER)
        every, hot = (after - earlier for after, earlier in zip(_updates(table), before, strict=True))
        assert every == hot >= 2


def _updates(table: str) -> tuple[int, int]:
    """Updates and HOT updates of the table in this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_stat_get_xact_tuples_updated(%(table)s::regclass),"
            " pg_stat_get_xact_tuples_hot_updated(%(table)s::regclass)",
            {"table": table},
        )
        return cursor.fetchone()


def _columns(product: Product) -> dict:
    skipped = {"id", "slug", "updated_at"}
    return {
        field.attname: getattr(product, field.attname) for field in Product._meta.fields if field.name not in skipped
    }

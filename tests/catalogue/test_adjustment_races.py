"""Concurrent changes of one stock, with real threads and transactions."""

import pytest

from storefront.catalogue.models import StockAdjustment
from storefront.catalogue.stock import InsufficientStock, StockUse, take_stock
from storefront.catalogue.verifying import deviations
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.shops.factories import NOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, "read_products", "write_products", "write_inventory").api


def adjust(app, row, **change) -> int:
    product, variant = (row.product_id, row.pk) if hasattr(row, "product_id") else (row.pk, None)
    body = {"product_id": product, "variant_id": variant, "reason": "Counted", **change}
    return ApiClient(app.token, prefix="/api/apps").post("/inventory/adjustments", body).status_code


def sell(shop, row) -> None:
    kind = "variant" if hasattr(row, "product_id") else "product"
    take_stock(shop=shop, uses=[StockUse(kind, row.pk, 1)], now=NOW)


@pytest.fixture(params=["product", "variant"])
def row(request, shop):
    mug = make_product(shop, "Mug", stock_qty=10)
    return mug if request.param == "product" else make_variant(mug, stock_qty=10)


def test_concurrent_adjustments_and_sales_are_all_counted(shop, app, row):
    answers = run_concurrently(*[lambda: adjust(app, row, delta=1)] * 4, *[lambda: sell(shop, row)] * 3)
    assert sorted(map(str, answers)) == ["201"] * 4 + ["None"] * 3
    row.refresh_from_db()
    assert row.stock_qty == 11
    assert StockAdjustment.objects.filter(kind="adjusted").count() == 4
    assert list(deviations(shop)) == []


def test_the_last_unit_is_taken_once(shop, app, row):
    type(row).objects.filter(pk=row.pk).update(stock_qty=1)
    calls = [lambda: adjust(app, row, delta=-1)] * 3 + [lambda: sell(shop, row)] * 2
    answers = run_concurrently(*calls, refusal=InsufficientStock)
    assert sum(answer in (201, None) for answer in answers) == 1
    assert sum(answer == 422 or isinstance(answer, InsufficientStock) for answer in answers) == 4
    row.refresh_from_db()
    assert row.stock_qty == 0


def test_the_last_event_has_the_final_stock(shop, app, row):
    run_concurrently(*[lambda: adjust(app, row, delta=1)] * 3, *[lambda: sell(shop, row)] * 3)
    row.refresh_from_db()
    events = Event.objects.filter(topic="inventory.updated").order_by("pk")
    assert events.count() == 6
    assert events.last().data["stock_qty"] == row.stock_qty == 10


def test_concurrent_changes_of_different_fields_both_stay(shop, app):
    mug = make_product(shop, "Mug", stock_qty=10)

    def change(**body):
        answer = ApiClient(app.token, prefix="/api/apps").patch(f"/products/{mug.pk}", body)
        assert answer.status_code == 200, answer.content

    for _ in range(3):
        type(mug).objects.update(sku="", barcode=None, stock_qty=10)
        answers = run_concurrently(
            lambda: change(sku="M-1"), lambda: change(barcode="123"), lambda: sell(shop, mug), lambda: sell(shop, mug)
        )
        assert answers == [None] * 4
        mug.refresh_from_db()
        assert (mug.sku, mug.barcode, mug.stock_qty) == ("M-1", "123", 8)

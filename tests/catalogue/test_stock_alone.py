"""A sale of one stock, which PostgreSQL does by one statement: the same rows and events as of several."""

import pytest
from django.db import DataError, connection, transaction

from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product, make_variant
from tests.factories.apps import install
from tests.shops.factories import NOW

# Queries of a sale outside a transaction. SQLite's: its begin, what the ledger says and that it ends, the change, its
# event, one to invalidate caches, and its end.
QUERIES = 1 if connection.vendor == "postgresql" else 7


def sold(shop, kind: str) -> StockUse:
    """A stock of this kind; the name says what else is special about it."""
    match kind.split():
        case ["product"]:
            return StockUse("product", make_product(shop, "Mug", sku="M-1", low_stock_threshold=3).pk, 2)
        case ["damaged"]:
            return StockUse("damaged", make_product(shop, "Mug", damaged_qty=4).pk, 2)
        case ["variant"]:
            shirt = make_product(shop, "Shirt", damaged_qty=1)
            make_variant(shirt, name="Red")
            return StockUse("variant", make_variant(shirt, name="Blue", sku="S-B", allow_backorders=True).pk, 2)
        case ["variant", "named", "in", "full"]:
            return StockUse("variant", make_variant(make_product(shop, "Shirt"), name="Shirt, blue").pk, 2)
        case ["variant", "without", "a", "name"]:
            return StockUse("variant", make_variant(make_product(shop, "Shirt"), name="").pk, 2)
        case ["damaged", "with", "variants"]:
            shirt = make_product(shop, "Shirt", damaged_qty=4)
            make_variant(shirt, name="Red", sort_order=2)
            make_variant(shirt, name="Blue", sort_order=1)
            return StockUse("damaged", shirt.pk, 2)
    raise AssertionError(kind)


KINDS = [
    *("product", "damaged", "variant", "variant named in full", "variant without a name"),
    "damaged with variants",
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a transaction"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sale_is_told_as_apps_read_it(shop, other_shop, kind, inside):
    app = install(shop, "read_inventory").api
    sold(other_shop, kind)
    use = sold(shop, kind)
    row = (Variant if use.kind == "variant" else Product).objects.get(pk=use.id)
    product = row.product_id if use.kind == "variant" else row.pk
    Event.objects.all().delete()
    for change, reference in ((take_stock, "draft 7"), (put_back_stock, "order 1001")):
        if inside:
            with transaction.atomic():
                change(shop=shop, uses=[use], now=NOW, reference=reference)
                # Of this, nothing was said.
                Product.objects.filter(shop=shop, pk=product).update(stock_qty=500, updated_at=NOW)
                Product.objects.filter(shop=shop, pk=product).update(stock_qty=10, updated_at=NOW)
        else:
            change(shop=shop, uses=[use], now=NOW, reference=reference)
        shown = app.get(f"/inventory?product_id={product}").json()["inventory"]
        items = [item for item in shown if use.kind != "variant" or item["variant_id"] == use.id]
        events = Event.objects.order_by("pk")
        told = [event.data | ({"stock_qty": 10} if event.data["variant_id"] is None else {}) for event in events]
        assert told == [item | ({"stock_qty": 10} if item["variant_id"] is None else {}) for item in items]
        assert {(event.shop_id, event.topic, event.created_at) for event in events} == {
            (shop.pk, "inventory.updated", NOW)
        }
        events.delete()
    said = StockAdjustment.objects.filter(shop=shop, kind__in=["sold", "returned"]).order_by("pk")
    assert list(said.values_list("kind", "delta", "reference", "of_damaged", "variant", "made_at")) == [
        (kind, delta, reference, use.kind == "damaged", use.id if use.kind == "variant" else None, NOW)
        for kind, delta, reference in (("sold", -2, "draft 7"), ("returned", 2, "order 1001"))
    ]


@pytest.mark.django_db(transaction=True)
def test_a_sale_outside_a_transaction_is_one_statement_on_postgresql(shop, django_assert_num_queries):
    mug = make_product(shop)
    for change in (take_stock, put_back_stock):
        with django_assert_num_queries(QUERIES):
            change(shop=shop, uses=[StockUse("product", mug.pk, 1)], now=NOW)
    mug.refresh_from_db()
    assert (mug.stock_qty, Event.objects.filter(shop=shop).count()) == (10, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_of_another_shop_nothing_is_taken_or_put_back(shop, other_shop, kind):
    theirs = sold(other_shop, kind)
    before = StockAdjustment.objects.count()
    with pytest.raises(InsufficientStock):
        take_stock(shop=shop, uses=[theirs], now=NOW)
    put_back_stock(shop=shop, uses=[theirs], now=NOW)
    assert (StockAdjustment.objects.count(), Event.objects.count()) == (before, 0)


def test_stock_that_is_not_tracked_is_not_taken(shop):
    download = make_product(shop, track_inventory=False)
    before = StockAdjustment.objects.count()
    assert take_stock(shop=shop, uses=[StockUse("product", download.pk, 1)], now=NOW) == []
    download.refresh_from_db()
    assert (download.stock_qty, StockAdjustment.objects.count(), Event.objects.count()) == (10, before, 0)


@pytest.mark.django_db(transaction=True)
def test_a_stock_that_would_be_too_large_stays_as_it_is(shop):
    mug = make_product(shop)
    before = StockAdjustment.objects.count()
    if connection.vendor == "sqlite":
        pytest.skip("SQLite's integers have no such limit")
    with pytest.raises(DataError):
        put_back_stock(shop=shop, uses=[StockUse("product", mug.pk, 2**31 - 1)], now=NOW)
    mug.refresh_from_db()
    assert (mug.stock_qty, StockAdjustment.objects.count(), Event.objects.count()) == (10, before, 0)

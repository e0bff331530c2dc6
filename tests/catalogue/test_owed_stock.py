"""Backorders of an oversold product can end: nothing more is sold, and the pieces that are owed stay known."""

import pytest
from django.db import IntegrityError, transaction

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from storefront.shops.scopes import SCOPES
from tests.carts.factories import add
from tests.catalogue.factories import make_product, make_variant
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import NOW


@pytest.fixture
def app(shop) -> ApiClient:
    return install(shop, *SCOPES).api


@pytest.fixture(params=["product", "variant"])
def vase(request, shop) -> Product | Variant:
    """Two pieces more were sold than there are."""
    product = make_product(shop, "Vase", stock_qty=-2, allow_backorders=True)
    return product if request.param == "product" else make_variant(product, stock_qty=-2, allow_backorders=True)


def ids(row) -> dict[str, int]:
    if isinstance(row, Product):
        return {"product_id": row.pk}
    return {"product_id": row.product_id, "variant_id": row.pk}


def change(app, row, **columns):
    if isinstance(row, Product):
        return app.patch(f"/products/{row.pk}", columns)
    return app.patch(f"/products/{row.product_id}", {"variants": [{"id": row.pk, **columns}]})


def test_the_api_ends_backorders_and_sales_stop(shop, api, app, vase):
    product = vase if isinstance(vase, Product) else vase.product
    more = {} if product is vase else {"variant_id": vase.pk}
    token = add(api, product, **more).json()["cart_token"]
    assert change(app, vase, allow_backorders=False).status_code == 200
    vase.refresh_from_db()
    assert (vase.stock_qty, vase.allow_backorders) == (-2, False)
    assert add(api, product, **more).json()["code"] == "insufficient_stock"
    assert api.get("/cart", cart=token).json()["data"]["problems"][0]["available"] == 0
    kind = "product" if product is vase else "variant"
    with pytest.raises(InsufficientStock):
        take_stock(shop=shop, uses=[StockUse(kind, vase.pk, 1)], now=NOW)
    put_back_stock(shop=shop, uses=[StockUse(kind, vase.pk, 1)], now=NOW)
    vase.refresh_from_db()
    assert vase.stock_qty == -1


def test_the_stock_can_be_set_higher_and_not_lower(app, vase):
    change(app, vase, allow_backorders=False)
    assert change(app, vase, stock_qty=-2).status_code == 200
    assert change(app, vase, stock_qty=-3).status_code == 422
    assert app.post("/inventory/adjustments", {**ids(vase), "delta": -1, "reason": "Broken"}).status_code == 422
    assert app.post("/inventory/adjustments", {**ids(vase), "delta": 1, "reason": "Found"}).status_code in (200, 201)
    vase.refresh_from_db()
    assert vase.stock_qty == -1
    assert change(app, vase, stock_qty=4).status_code == 200
    assert change(app, vase, stock_qty=-1).status_code == 422


def test_the_database_keeps_stock_from_falling_below_zero(vase):
    rows = type(vase).objects.filter(pk=vase.pk)
    rows.update(allow_backorders=False)
    for lower in (-3, -100):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(stock_qty=lower)
    rows.update(stock_qty=3)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(stock_qty=-1)
    rows.update(stock_qty=-1, track_inventory=False)


@pytest.mark.parametrize("make", [make_product, lambda shop, **given: make_variant(make_product(shop), **given)])
def test_the_database_takes_no_row_that_owes_pieces_without_backorders(shop, make):
    make(shop, stock_qty=-1, allow_backorders=True)
    make(shop, stock_qty=-1, track_inventory=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        make(shop, stock_qty=-1)

"""Taking stock and restocking."""

import pytest
from django.db import IntegrityError, transaction

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from tests.catalogue.factories import make_product, make_variant
from tests.shops.factories import NOW


def take(shop, *uses):
    return take_stock(shop=shop, uses=uses, now=NOW)


def left(item):
    item.refresh_from_db()
    return item.stock_qty


def test_sale_lowers_the_stock(shop):
    mug, pot = make_product(shop, stock_qty=10), make_variant(make_product(shop), stock_qty=5)
    taken = take(shop, StockUse("product", mug.pk, 3), StockUse("variant", pot.pk, 5))
    assert (left(mug), left(pot)) == (7, 0)
    assert set(taken) == {StockUse("product", mug.pk, 3), StockUse("variant", pot.pk, 5)}


def test_several_uses_of_one_stock_count_together(shop):
    mug = make_product(shop, stock_qty=3)
    with pytest.raises(InsufficientStock):
        take(shop, StockUse("product", mug.pk, 2), StockUse("product", mug.pk, 2))
    assert left(mug) == 3


def test_refused_stock_use_changes_no_stock(shop):
    mug, pot = make_product(shop, stock_qty=10), make_product(shop, stock_qty=1)
    with pytest.raises(InsufficientStock) as refusal:
        take(shop, StockUse("product", mug.pk, 3), StockUse("product", pot.pk, 2))
    assert (refusal.value.available, refusal.value.use.id) == (1, pot.pk)
    assert refusal.value.body()["available"] == 1
    assert (left(mug), left(pot)) == (10, 1)


def test_backorders_can_make_stock_negative(shop):
    mug = make_product(shop, stock_qty=1, allow_backorders=True)
    take(shop, StockUse("product", mug.pk, 3))
    assert left(mug) == -2


def test_untracked_stock_is_not_lowered(shop):
    mug = make_product(shop, stock_qty=0, track_inventory=False)
    assert take(shop, StockUse("product", mug.pk, 3)) == []
    assert left(mug) == 0


def test_damaged_pieces_have_a_count_of_their_own_and_no_backorders(shop):
    mug = make_product(shop, stock_qty=5, damaged_qty=1, allow_backorders=True, track_inventory=False)
    take(shop, StockUse("damaged", mug.pk, 1))
    with pytest.raises(InsufficientStock):
        take(shop, StockUse("damaged", mug.pk, 1))
    mug.refresh_from_db()
    assert (mug.stock_qty, mug.damaged_qty) == (5, 0)


def test_another_shops_stock_is_not_there(shop, other_shop):
    theirs = make_product(other_shop, stock_qty=10)
    with pytest.raises(InsufficientStock) as refusal:
        take(shop, StockUse("product", theirs.pk, 1))
    assert refusal.value.available == 0
    put_back_stock(shop=shop, uses=[StockUse("product", theirs.pk, 1)], now=NOW)
    assert left(theirs) == 10


def test_restocking_raises_the_same_stocks(shop):
    mug = make_product(shop, stock_qty=10, damaged_qty=2)
    pot = make_variant(make_product(shop), stock_qty=5)
    uses = [StockUse("product", mug.pk, 3), StockUse("damaged", mug.pk, 1), StockUse("variant", pot.pk, 2)]
    put_back_stock(shop=shop, uses=take(shop, *uses), now=NOW)
    mug.refresh_from_db()
    assert (mug.stock_qty, mug.damaged_qty, left(pot)) == (10, 2, 5)


@pytest.mark.rule("R-CART-33")
@pytest.mark.parametrize(
    ("model", "column"), [(Product, "stock_qty"), (Product, "damaged_qty"), (Variant, "stock_qty")]
)
def test_database_constraint_refuses_negative_stock(shop, model, column):
    make_variant(make_product(shop))
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.update(**{column: -1})

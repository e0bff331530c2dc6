"""Every change of a stock is a row of its ledger, whoever makes it, and the rows explain the stock."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue import actions
from storefront.catalogue.inventory.actions import adjust_stock
from storefront.catalogue.inventory.ledger import Author
from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.catalogue.stock import InsufficientStock, StockUse, put_back_stock, take_stock
from storefront.catalogue.triggers import TRIGGERS
from storefront.catalogue.verifying import deviations
from storefront.kit.deviations import Deviation
from tests.catalogue.factories import make_product, make_variant
from tests.product_files.files import imported
from tests.races import run_concurrently
from tests.shops.factories import NOW

FILE = """Type,SKU,Parent,Name,Stock,In stock?,Regular price,Attribute 1 name,Attribute 1 value(s)
simple,MUG,,Mug,{mug},1,9.50,,
variable,SCARF,,Scarf,,1,,Colour,"Blue, Red"
variation,BLUE,SCARF,Scarf,{blue},1,5.00,Colour,Blue
"""


def ledger(row) -> list[tuple]:
    """The rows of a product or a variant, the first one first: kind, change, stock after it."""
    of_row = {"variant": row} if isinstance(row, Variant) else {"product": row, "variant": None, "of_damaged": False}
    return list(StockAdjustment.objects.filter(**of_row).order_by("id").values_list("kind", "delta", "stock_after"))


def test_sales_and_returns_name_what_they_belong_to(shop, other_shop):
    mug, other = make_product(shop, stock_qty=5, damaged_qty=2), make_product(other_shop, stock_qty=5)
    uses = [StockUse("product", mug.pk, 2), StockUse("damaged", mug.pk, 1), StockUse("product", other.pk, 1)]
    take_stock(shop=shop, uses=uses[:2], reference="draft 7", now=NOW)
    put_back_stock(shop=shop, uses=uses, reference="order 1001", now=NOW)
    told = StockAdjustment.objects.exclude(kind="created").order_by("id")
    assert list(told.values_list("shop", "of_damaged", "kind", "delta", "stock_after", "reference", "made_at")) == [
        (shop.pk, True, "sold", -1, 1, "draft 7", NOW),
        (shop.pk, False, "sold", -2, 3, "draft 7", NOW),
        (shop.pk, True, "returned", 1, 2, "order 1001", NOW),
        (shop.pk, False, "returned", 2, 5, "order 1001", NOW),
    ]
    assert ledger(other) == [("created", 5, 5)]


def test_a_refused_sale_leaves_no_row_and_says_nothing_of_later_changes(shop):
    mug, pot = make_product(shop, stock_qty=5), make_product(shop, stock_qty=0)
    with pytest.raises(InsufficientStock), transaction.atomic():
        take_stock(shop=shop, uses=[StockUse("product", row.pk, 1) for row in (mug, pot)], now=NOW)
    Product.objects.filter(pk=mug.pk).update(stock_qty=9)
    assert ledger(mug) == [("created", 5, 5), ("changed", 4, 9)]


def test_an_import_names_its_file_with_new_and_changed_stock(shop, tmp_path):
    imported(shop, FILE.format(mug=3, blue=4), tmp_path)
    imported(shop, FILE.format(mug=1, blue=6), tmp_path, update=True)
    assert ledger(Product.objects.get(sku="MUG")) == [("imported", 3, 3), ("imported", -2, 1)]
    assert ledger(Variant.objects.get(sku="BLUE")) == [("imported", 4, 4), ("imported", 2, 6)]
    assert set(StockAdjustment.objects.values_list("reference", flat=True)) == {"products"}
    assert list(deviations(shop)) == []


def test_a_removed_variants_ledger_ends_with_its_stock(shop, django_user_model):
    blue = make_variant(make_product(shop, "Scarf"), "Blue", stock_qty=4)
    actions.update_product(shop=shop, product=blue.product, variants=[{"id": blue.pk, "remove": True}], now=NOW)
    rows = StockAdjustment.objects.filter(variant_id=blue.pk).order_by("id")
    assert list(rows.values_list("kind", "delta", "stock_after")) == [("created", 4, 4), ("removed", -4, 0)]
    assert list(deviations(shop)) == []


def test_a_product_that_is_deleted_for_good_takes_its_ledger_along(shop):
    blue = make_variant(make_product(shop, "Scarf", stock_qty=1), "Blue", stock_qty=4)
    product = blue.product
    Product.objects.filter(pk=product.pk).update(default_variant=None)
    product.delete()
    assert not StockAdjustment.objects.exists()


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.sampled_from(["take", "put", "adjust", "sql", "damage", "save"]), st.integers(-3, 5)), max_size=12
    )
)
def test_the_ledger_explains_any_history(shop, other_shop, steps):
    row = make_product(shop, stock_qty=5, damaged_qty=1, allow_backorders=True)
    bystander = make_product(other_shop, stock_qty=5)
    expected = 5
    for step, qty in steps:
        before = StockAdjustment.objects.filter(product=row, of_damaged=False).count()
        if step in ("take", "put") and qty > 0:
            change = take_stock if step == "take" else put_back_stock
            change(shop=shop, uses=[StockUse("product", row.pk, qty)], now=NOW)
            expected += -qty if step == "take" else qty
        elif step == "adjust":
            author = Author(installation_id=None)
            adjust_stock(shop=shop, product_id=row.pk, delta=qty, reason="?", author=author, now=NOW)
            expected += qty
        elif step == "sql":
            Product.objects.filter(pk=row.pk).update(stock_qty=qty)
            expected = qty
        elif step == "damage":
            Product.objects.filter(pk=row.pk).update(damaged_qty=abs(qty))
        elif step == "save":
            row.refresh_from_db()
            row.save()
        added = StockAdjustment.objects.filter(product=row, of_damaged=False).count() - before
        assert added <= 1
    assert ledger(row)[-1][2] == expected
    assert [*deviations(shop), *deviations(other_shop)] == []
    assert ledger(bystander) == [("created", 5, 5)]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_changes_at_once_follow_each_other_in_the_ledger(shop):
    mug = make_product(shop, stock_qty=6)
    blue = make_variant(make_product(shop, "Scarf"), stock_qty=6)

    def sell(kind: str, row) -> None:
        take_stock(shop=shop, uses=[StockUse(kind, row.pk, 1)], now=NOW)

    def edit() -> None:
        Product.objects.filter(pk=mug.pk, stock_qty__lt=100).update(stock_qty=100)

    calls = [lambda: sell("product", mug), lambda: sell("variant", blue)] * 4
    run_concurrently(*calls, edit, refusal=InsufficientStock)
    assert list(deviations(shop)) == []
    assert len(ledger(blue)) == 5


def test_verification_names_a_stock_that_its_ledger_does_not_explain(shop, other_shop):
    mug = make_product(shop, stock_qty=5)
    blue = make_variant(make_product(shop, "Scarf"), stock_qty=2)
    make_product(other_shop, stock_qty=1)
    (first,) = StockAdjustment.objects.filter(product=mug).values_list("pk", flat=True)
    StockAdjustment.objects.filter(pk=first).update(delta=4)
    StockAdjustment.objects.filter(variant=blue).delete()
    assert list(deviations(shop)) == [
        Deviation("stock ledger", f"row {first} of product {mug.pk}", "5", "4"),
        Deviation("stock", f"variant {blue.pk} of product {blue.product_id}", "2", "0"),
    ]
    assert list(deviations(other_shop)) == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_stock_and_adjustments_from_before_the_ledger_are_its_beginning(shop):
    mug, jug = make_product(shop, "Mug", stock_qty=5, price=Decimal("9.50")), make_product(shop, "Jug", stock_qty=3)
    blue = make_variant(make_product(shop, "Scarf"), stock_qty=2)
    StockAdjustment.objects.all().delete()
    StockAdjustment.objects.create(
        shop=shop, product=mug, kind="adjusted", delta=2, stock_after=9, reason="Came in", made_at=NOW
    )
    with connection.schema_editor() as editor:
        TRIGGERS.remove(editor)
    call_command("migrate", verbosity=0)
    # The mug's four sales since its adjustment are in the opening row.
    assert ledger(mug) == [("adjusted", 2, 9), ("opening", -4, 5)]
    assert (ledger(jug), ledger(blue)) == ([("opening", 3, 3)], [("opening", 2, 2)])
    assert list(deviations(shop)) == []

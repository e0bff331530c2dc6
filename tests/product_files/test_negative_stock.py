"""A stock below zero is imported where the product can be backordered, whether the file or the shop says so."""

import pytest

from storefront.catalogue.models import Product, Variant
from tests.product_files.files import as_lines, exported, imported, warnings, woo
from tests.product_files.variants import MUG

FILES = {
    "Stock": "SKU,Stock\nA,-3\n",
    "Variant Inventory Qty": "Handle,Title,Variant Inventory Qty\na,A,-3\n",
    "stock_qty": '{"slug": "a", "stock_qty": -3}\n',
}


def made(shop, tmp_path, **given):
    row = {"name": "A", "slug": "a", "sku": "A", "price": "1.00", "stock_qty": 5, **given}
    assert imported(shop, as_lines(row), tmp_path).created == 1


def stock(shop) -> int:
    return Product.objects.get(shop=shop).stock_qty


@pytest.mark.parametrize("column", FILES)
@pytest.mark.parametrize("allowed", [True, False])
def test_the_shops_product_decides_if_the_file_does_not(shop, tmp_path, column, allowed):
    made(shop, tmp_path, allow_backorders=allowed)
    report = imported(shop, FILES[column], tmp_path, update=True)
    assert (report.updated, stock(shop)) == (1, -3 if allowed else 0)
    told = f"line {report.changes[0]['line']}, {column}: stock -3 was imported as 0, because backorders are not allowed"
    assert warnings(report) == ([] if allowed else [told])


def test_what_the_file_states_counts_before_the_shop(shop, tmp_path):
    made(shop, tmp_path, allow_backorders=True)
    imported(shop, "SKU,Stock,Backorders allowed?\nA,-3,0\n", tmp_path, update=True)
    assert stock(shop) == 0


@pytest.mark.parametrize("format", ["native", "woocommerce", "shopify"])
def test_pieces_that_are_owed_stay_so_when_backorders_have_ended(shop, tmp_path, format):
    made(shop, tmp_path, allow_backorders=True, stock_qty=-2)
    Product.objects.filter(shop=shop).update(allow_backorders=False)
    report = imported(shop, exported(shop, format), tmp_path, update=True)
    assert (report.changes, warnings(report), stock(shop)) == ([], [], -2)


def test_a_variant_has_its_own_setting(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    Variant.objects.filter(shop=shop, sku="M-B").update(allow_backorders=True)
    report = imported(shop, "SKU,Stock\nM-R,-1\nM-B,-1\n", tmp_path, update=True)
    assert dict(Variant.objects.filter(shop=shop).values_list("sku", "stock_qty")) == {"M-R": 0, "M-B": -1}
    assert warnings(report) == ["line 2, Stock: stock -1 was imported as 0, because backorders are not allowed"]


def test_new_products_and_variants_have_none(shop, tmp_path):
    reason = "stock -4 was imported as 0, because backorders are not allowed"
    report = imported(shop, [woo(sku="A", stock="-4")], tmp_path, update=True)
    assert (warnings(report), stock(shop)) == ([f"line 2, Stock: {reason}"], 0)
    Product.objects.all().delete()
    report = imported(shop, [woo(sku="A", stock="-4")], tmp_path)
    assert (warnings(report), stock(shop)) == ([f"line 2, Stock: {reason}"], 0)

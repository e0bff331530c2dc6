"""No sale ends, and nothing becomes free, without a word."""

import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import as_lines, errors, imported, warnings, woo


@pytest.fixture
def mug(shop, tmp_path):
    imported(shop, [woo(sku="MUG", regular_price="12", sale_price="9")], tmp_path)
    return shop


def prices(shop) -> tuple[str, str]:
    made = Product.objects.get(shop=shop)
    return str(made.price), str(made.compare_price)


def test_a_sale_at_0_is_refused(mug, tmp_path):
    report = imported(mug, "SKU,Regular price,Sale price\nMUG,12,0\n", tmp_path, update=True)
    assert "Sale price: is 0, which would make it free" in errors(report)[0]
    assert prices(mug) == ("9.00", "12.00")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("", ", Sale price: is empty; the sale ends; reported once"),
        ("15", ": is not lower than the regular price; ignored; the earlier sale ends"),
    ],
)
def test_a_sale_that_ends_is_told(cell, said, mug, tmp_path):
    report = imported(mug, f"SKU,Sale price\nMUG,{cell}\n", tmp_path, update=True)
    assert (prices(mug), warnings(report)) == (("12.00", "0.00"), [f"line 2{said}"])


@pytest.mark.parametrize("content", ["Variant SKU,Variant Price\nMUG,13\n", as_lines({"sku": "MUG", "price": "13"})])
def test_a_price_above_the_compare_price_ends_the_sale(content, mug, tmp_path):
    report = imported(mug, content, tmp_path, update=True)
    assert prices(mug) == ("13.00", "0.00")
    assert any("the sale ends" in each for each in warnings(report))


def test_a_price_below_the_compare_price_keeps_it(mug, tmp_path):
    imported(mug, "Variant SKU,Variant Price\nMUG,10\n", tmp_path, update=True)
    assert prices(mug) == ("10.00", "12.00")

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import imported, woo


def prices(shop) -> list[Decimal]:
    return list(Product.objects.filter(shop=shop).order_by("sku").values_list("price", flat=True))


@pytest.mark.parametrize(
    ("cells", "expected", "note"),
    [
        (["1.234", "1.234,50"], ["1234.00", "1234.50"], "Numbers such as 1.234 are read as 1234, as the file's other"),
        (["1.234", "9,50"], ["1234.00", "9.50"], "Numbers such as 1.234 are read as 1234, as the file's other"),
        (["1,234", "9,50"], ["1.23", "9.50"], "Numbers such as 1,234 are read as 1.234, as the file's other"),
        (["1,234", "9.50"], ["1234.00", "9.50"], None),
        (["1.234", "9.50"], ["1.23", "9.50"], None),
        (["1.234", "8"], ["1.23", "8.00"], "Numbers such as 1.234 are read as 1.234, as its other numbers do not tell"),
        (["1,234", "8"], ["1234.00", "8.00"], "Numbers such as 1,234 are read as 1234, as its other numbers do not"),
        # Both are in use, so that each number is read by itself.
        (["1.234", "9.50", "9,50"], ["1.23", "9.50", "9.50"], "Numbers such as 1.234 are read as 1.234, as its other"),
        (["9.50", "1.000.000,00", "1,000"], ["9.50", "1000000.00", "1000.00"], "Numbers such as 1,000 are read as 10"),
    ],
)
def test_the_files_other_numbers_tell_what_an_ambiguous_one_is(shop, tmp_path, cells, expected, note):
    report = imported(shop, [woo(sku=str(n), regular_price=cell) for n, cell in enumerate(cells)], tmp_path)
    assert prices(shop) == list(map(Decimal, expected))
    assert [problem.severity for problem in report.problems] == (["note"] if note else [])
    assert all(problem.reason.startswith(note) for problem in report.problems)


def test_weights_follow_the_files_prices(shop, tmp_path):
    imported(shop, [woo(regular_price="9,50") | {"Weight (kg)": "1,250"}], tmp_path)
    assert Product.objects.get(shop=shop).weight == Decimal("1.250")


def test_texts_do_not_count_as_numbers(shop, tmp_path):
    rows = [woo(sku="A", regular_price="1.234", stock="v1,5"), woo(sku="B", regular_price="7")]
    imported(shop, rows, tmp_path)
    assert prices(shop) == [Decimal(7)]


def test_shopifys_numbers_too(shop, tmp_path):
    rows = [
        {"Handle": f"mug-{n}", "Title": "Mug", "Variant Price": price, "Variant SKU": str(n)}
        for n, price in enumerate(["1.234", "2.345,50"])
    ]
    imported(shop, rows, tmp_path)
    assert prices(shop) == [Decimal("1234"), Decimal("2345.50")]

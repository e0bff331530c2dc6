"""A product's rows are held in memory together, so a group of more rows than any product has is not read."""

import tracemalloc

import pytest

from storefront.catalogue.models import Product
from storefront.product_files import import_run, row_store
from storefront.product_files.opening import open_source
from storefront.product_files.parsed_products import Failure
from tests.product_files.files import as_csv, imported, woo
from tests.shops.factories import NOW

AXIS = {"Attribute 1 name": "Size", "Attribute 1 value(s)": "1"}


def rows_of_one_product(format: str, count: int) -> list[dict[str, str]]:
    if format == "woocommerce":
        rows = [woo(type="variable", sku="S") | AXIS]
        return rows + [woo(type="variation", sku=f"S-{n}", parent="S") | AXIS for n in range(count - 1)]
    row = {"Handle": "s", "Title": "", "Option1 Name": "Size", "Option1 Value": "1", "Variant Price": "1"}
    return [row | {"Title": "" if n else "Shirt", "Option1 Value": f"{n}"} for n in range(count)]


@pytest.mark.parametrize("format", ["woocommerce", "shopify"])
def test_a_product_of_too_many_rows_fails_and_the_others_are_imported(shop, tmp_path, monkeypatch, format):
    monkeypatch.setattr(row_store, "MAX_GROUP_ROWS", 100)
    other = (
        woo(name="Mug", sku="M") if format == "woocommerce" else {"Handle": "m", "Title": "Mug", "Variant Price": "1"}
    )
    report = imported(shop, [*rows_of_one_product(format, 101), other], tmp_path)
    assert (report.created, report.failed) == (1, 1)
    assert "has 101 rows; at most 100 are read" in report.problems[0].reason
    assert [product.name for product in Product.objects.filter(shop=shop)] == ["Mug"]


@pytest.mark.slow
def test_rows_that_are_too_long_together_are_not_held_in_memory(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(row_store, "MAX_GROUP_SIZE", 1 << 20)
    rows = [row | {"Description": "d" * 20_000} for row in rows_of_one_product("woocommerce", 600)]
    file = tmp_path / "products.csv"
    file.write_text(as_csv(rows))
    del rows
    source = open_source(file, "auto", shop=shop, update=False, now=NOW)
    tracemalloc.start()
    try:
        (found,) = source.results
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(found, Failure)
    # All rows have 12 MB; up to 500 of them wait to be written to the disk.
    assert peak < 16 << 20


def test_a_report_holds_fewer_problems_where_they_are_long(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(import_run, "MAX_REPORT_SIZE", 100_000)
    price = "Regular" + " " * 10_000 + "price"
    rows = [{"Type": "simple", "Name": "Mug", "Published": "1", price: "none"}] * 50
    report = imported(shop, rows, tmp_path)
    assert (report.failed, len(report.problems)) == (50, 10)

"""What an empty cell of an update clears is told once per file, by the header of its column and the first line."""

import pytest

from storefront.catalogue.models import Variant
from tests.product_files.files import as_lines, imported, warnings
from tests.product_files.variants import MUG

FULL = {
    "price": "9.00", "compare_price": "12.00", "cost_price": "2.00", "weight": "0.500", "description": "Old",
    "short_description": "Short", "barcode": "0049", "tags": ["x"], "brand": "Kiln", "categories": ["Cups"],
    "media": [{"url": "https://p.example.com/1.jpg", "alt": "Front"}], "meta_title": "T", "meta_description": "D",
    "attributes": [{"name": "Size", "values": ["M"]}],
}  # fmt: skip
EMPTY, ZERO, NONE = (
    f"{reason}; reported once"
    for reason in (
        "is cleared, since the file has it empty", "becomes 0, since the file has it empty or 0",
        "is cleared, since the file names none",
    )
)  # fmt: skip


def made(shop, tmp_path):
    lines = [FULL | {"name": name, "slug": name.lower(), "sku": name} for name in ("A", "B")]
    assert imported(shop, as_lines(*lines), tmp_path).created == 2


@pytest.mark.parametrize(
    ("key", "column", "reason"),
    [
        ("SKU", "Description", EMPTY), ("SKU", "Short description", EMPTY), ("SKU", "Tags", EMPTY),
        ("SKU", "Brands", EMPTY), ("SKU", "GTIN, UPC, EAN, or ISBN", EMPTY), ("SKU", "Weight (kg)", ZERO),
        ("SKU", "Images", NONE), ("SKU", "Categories", NONE), ("SKU", "Meta: rank_math_title", EMPTY),
        ("Handle", "Body (HTML)", EMPTY), ("Handle", "Vendor", EMPTY), ("Handle", "Image Src", NONE),
        ("Handle", "Product Category", NONE), ("Handle", "Variant Grams", ZERO), ("Handle", "Cost per item", ZERO),
        ("Handle", "Variant Compare At Price", ZERO), ("Handle", "Variant Barcode", EMPTY),
        ("Handle", "SEO Title", EMPTY), ("Handle", "SEO Description", EMPTY), ("Handle", "Image Alt Text", EMPTY),
        ("Handle", "Size (product.metafields.storefront.size)", EMPTY),
    ],
)  # fmt: skip
def test_the_column_is_named_once(shop, tmp_path, key, column, reason):
    made(shop, tmp_path)
    # A handle needs a title or a picture beside it, and a list of SKUs a second column that WooCommerce has.
    other = {"Title": "A"} if key == "Handle" else {}
    other |= {"Image Src": "https://p.example.com/1.jpg"} if column == "Image Alt Text" else {}
    rows = [{key: name, column: "", **other} for name in ("A", "B")]
    if key == "Handle":
        rows = [row | {"Handle": row["Handle"].lower(), "Title": row["Handle"]} for row in rows]
    if column == "Product Category":
        rows = [row | {"Type": ""} for row in rows]
    report = imported(shop, rows, tmp_path, update=True)
    assert report.updated == 2, report.problems
    assert warnings(report) == [f"line 2, {column}: {reason}"]


def test_a_variants_cell_is_named_by_its_own_line(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    Variant.objects.filter(shop=shop, sku="M-B").update(barcode="0049")
    rows = [row | {"GTIN, UPC, EAN, or ISBN": ""} for row in MUG]
    report = imported(shop, rows, tmp_path, update=True)
    assert warnings(report) == [f"line 4, GTIN, UPC, EAN, or ISBN: {EMPTY}"]


def test_what_was_empty_before_is_not_told(shop, tmp_path):
    assert imported(shop, as_lines({"name": "A", "slug": "a", "sku": "A", "price": "1.00"}), tmp_path).created == 1
    rows = [{"SKU": "A", "Description": "", "Images": "", "Categories": "", "Weight (kg)": "", "Regular price": "2"}]
    report = imported(shop, rows, tmp_path, update=True)
    assert (report.updated, warnings(report)) == (1, [])

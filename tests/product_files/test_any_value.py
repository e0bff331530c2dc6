"""Shopify's export writes "Any" for a variant that fits any value of an option; imported again it is that variant."""

import pytest

from storefront.catalogue.models import Variant
from tests.product_files.files import as_lines, exported, imported

SHIRT = {
    "name": "Shirt", "slug": "shirt", "price": "9.00",
    "attributes": [
        {"name": "Colour", "values": ["Blue", "Red"], "variation": True},
        {"name": "Size", "values": ["M"], "variation": True},
    ],
}  # fmt: skip


def variants(*options: dict[str, str], sku: str = "") -> list[dict]:
    return [{"option_values": each, "price": "9.00", "sku": sku and f"{sku}{n}"} for n, each in enumerate(options)]


@pytest.mark.parametrize("sku", ["", "S-"])
@pytest.mark.parametrize("first", [{"Colour": "Blue"}, {}, {"Size": "M"}])
def test_its_own_export_changes_nothing(shop, tmp_path, sku, first):
    product = SHIRT | {"variants": variants(first, {"Colour": "Red", "Size": "M"}, sku=sku)}
    assert imported(shop, as_lines(product), tmp_path).created == 1
    before, content = exported(shop), exported(shop, "shopify")
    assert "Any" in content
    report = imported(shop, content, tmp_path, update=True)
    assert (report.changes, report.skipped) == ([], 1), report.problems
    assert exported(shop) == before


def test_a_new_price_is_that_of_the_same_variant(shop, tmp_path):
    imported(
        shop, as_lines(SHIRT | {"variants": variants({"Colour": "Blue"}, {"Colour": "Red", "Size": "M"})}), tmp_path
    )
    content = exported(shop, "shopify").replace("9.00", "8.00")
    assert imported(shop, content, tmp_path, update=True).updated == 1
    assert list(Variant.objects.filter(shop=shop).order_by("pk").values_list("option_values", "price")) == [
        ({"Colour": "Blue"}, 8), ({"Colour": "Red", "Size": "M"}, 8),
    ]  # fmt: skip


def test_an_ordinary_value_any_stays_one(shop, tmp_path):
    options = {"Colour": "Blue", "Size": "Any"}, {"Colour": "Blue"}
    imported(shop, as_lines(SHIRT | {"variants": variants(options[0], {"Colour": "Red", "Size": "M"})}), tmp_path)
    before = exported(shop)
    assert imported(shop, exported(shop, "shopify"), tmp_path, update=True).changes == []
    assert exported(shop) == before

"""A file never makes a second product of the variants that the shop has."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.catalogue.models import Product
from tests.product_files.files import errors, imported, woo
from tests.product_files.variants import MUG, conflicts, sold, variation

FEED = """id,title,link,image_link,availability,price,item_group_id,color
M-R,Mug,https://x.example/m,https://x.example/a.jpg,in stock,12.00 EUR,M,Red
M-B,Mug,https://x.example/m,https://x.example/a.jpg,in stock,13.00 EUR,M,Blue
"""


@pytest.fixture
def mugs(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    return shop


@pytest.mark.parametrize("update", [True, False])
def test_a_product_with_the_sku_of_a_variant_is_a_conflict(update, mugs, tmp_path):
    report = imported(mugs, [woo(sku="M-R", name="Red mug")], tmp_path, update=update)

    assert (report.created, report.conflicts, Product.objects.filter(shop=mugs).count()) == (0, 1, 1)
    assert "SKU M-R is the variant “Red” (SKU M-R) of “Mug” (mug, SKU M)" in conflicts(report)[0]


def test_a_variable_product_with_a_variation_of_another_one_is_a_conflict(mugs, tmp_path):
    cap = woo(id="60", type="variable", sku="CAP", name="Cap", regular_price="")
    rows = [cap | {"Attribute 1 name": "Colour", "Attribute 1 value(s)": "Red"}]
    rows.append(variation("61", "M-R", "Red") | {"Parent": "CAP"})
    report = imported(mugs, rows, tmp_path, update=True)
    assert (report.created, report.conflicts) == (0, 1)


def test_a_file_of_a_program_without_keys_finds_the_product_of_its_variants(mugs, tmp_path):
    report = imported(mugs, FEED, tmp_path, update=True)

    assert (report.created, report.updated, errors(report)) == (0, 1, [])
    assert [(sku, price) for _, sku, price, _ in sold(mugs)] == [("M-R", "12.00"), ("M-B", "13.00")]


def test_a_product_of_another_name_with_one_of_the_skus_is_a_conflict(mugs, tmp_path):
    report = imported(mugs, FEED.replace("Mug", "Cap").replace("M-B", "C-B"), tmp_path, update=True)
    assert (report.created, report.conflicts) == (0, 1)


def test_another_shop_can_have_the_same_skus(mugs, other_shop, tmp_path):
    assert imported(other_shop, [woo(sku="M-R", name="Red mug")], tmp_path).created == 1


def test_products_of_one_file_can_share_the_skus_of_variants(shop, tmp_path):
    rows = "".join(f"tee-{n},Tee {n},Size,S,T-S,10\n" for n in range(3))
    content = f"Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n{rows}"
    assert imported(shop, content, tmp_path).created == 3


def test_handles_are_compared_without_case(mugs, tmp_path):
    content = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\nMug,Mug,Colour,Red,M-R,20\n"
    content += "mug,,,Blue,M-B,21\n"
    report = imported(mugs, content, tmp_path, update=True)
    assert (report.created, report.updated, [price for _, _, price, _ in sold(mugs)]) == (0, 1, ["20.00", "21.00"])


def test_skus_are_looked_up_with_one_query_and_none_in_an_empty_shop(shop, tmp_path):
    def looked_up(number: int) -> int:
        rows = [woo(sku=f"{number}-{n}", name=f"Jug {number} {n}") for n in range(5)]
        with CaptureQueriesContext(connection) as queries:
            assert imported(shop, rows, tmp_path).created == 5
        return sum(
            "FROM catalogue_variant" in each["sql"] or "JOIN catalogue_variant" in each["sql"] for each in queries
        )

    assert looked_up(1) == 0
    imported(shop, MUG, tmp_path)
    assert looked_up(2) == 1


def test_a_variants_row_with_another_id_is_a_conflict(mugs, tmp_path):
    report = imported(mugs, "ID,SKU,Regular price\n999,M-R,7\n", tmp_path, update=True)
    assert (report.updated, report.conflicts) == (0, 1)
    assert "which has another ID" in conflicts(report)[0]

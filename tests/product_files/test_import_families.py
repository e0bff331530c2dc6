"""Rows of variations belong to one certain parent, and all rows of a product are imported or none."""

from storefront.catalogue.models import Product
from tests.product_files.files import errors, imported, woo
from tests.product_files.variants import BLUE, MUG, PARENT, RED, conflicts, mug, sold


def test_two_parents_with_the_sku_that_a_variation_names_are_refused(shop, tmp_path):
    other = PARENT | {"ID": "50", "Name": "Jug"}
    report = imported(shop, [*mug(RED), other, BLUE | {"Parent": "id:50"}, woo(id="9", sku="C")], tmp_path)

    assert [each.sku for each in Product.objects.filter(shop=shop)] == ["C"]
    assert (report.created, report.failed) == (1, 2)
    assert "line 3: its parent is not certain: lines 2 and 4 are both M" in errors(report)


def test_parents_can_share_a_sku_if_variations_name_ids(shop, tmp_path):
    other = PARENT | {"ID": "50", "Name": "Jug"}
    rows = [*mug(RED | {"Parent": "id:1"}), other, BLUE | {"Parent": "id:50"}]
    assert imported(shop, rows, tmp_path).created == 2


def test_rows_with_and_without_a_parent_are_imported_together(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    report = imported(shop, "ID,SKU,Parent,Regular price\n2,M-R,M,30\n,M-B,,31\n", tmp_path, update=True)
    assert ([price for _, _, price, _ in sold(shop)], conflicts(report)) == (["30.00", "31.00"], [])


def test_a_refused_row_keeps_those_with_a_parent_as_they_are(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    before = sold(shop)
    imported(shop, "ID,SKU,Parent,Regular price\n2,M-R,M,30\n,M-B,,many\n", tmp_path, update=True)
    assert sold(shop) == before

"""A product keeps its variants, or that it has none, where rows of a file were left out."""

import pytest

from storefront.catalogue.models import Product, Variant
from tests.product_files.files import as_lines, errors, imported, warnings, woo
from tests.product_files.variants import MUG, PARENT

TEE = """Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price
tee,Tee,Size,S,T-S,10
tee,,,M,T-M,11
tee,,,L,T-L,12
mug,Mug,Title,Default Title,MUG,5
"""


@pytest.fixture
def tees(shop, tmp_path):
    imported(shop, TEE, tmp_path)
    return shop


def sold(shop) -> dict[str, str]:
    return {row.sku: str(row.price) for row in Variant.objects.filter(shop=shop, is_active=True).order_by("pk")}


ALL = {"T-S": "10.00", "T-M": "11.00", "T-L": "12.00"}


def test_a_row_by_itself_changes_the_variant_with_its_sku(tees, tmp_path):
    content = "Handle,Option1 Name,Option1 Value,Variant SKU,Variant Price\ntee,,M,T-M,99\n"
    report = imported(tees, content, tmp_path, update=True)

    assert (report.updated, sold(tees)) == (1, ALL | {"T-M": "99.00"})
    assert Product.objects.get(shop=tees, slug="tee").type == "variable"


def test_a_row_without_options_and_sku_is_refused(tees, tmp_path):
    content = "Handle,Title,Option1 Name,Option1 Value,Variant Price\ntee,Tee,,,99\n"
    report = imported(tees, content, tmp_path, update=True)

    assert (report.failed, sold(tees)) == (1, ALL)
    assert errors(report)[0].startswith("line 2: the product has variants, which need")


def test_a_row_of_tags_changes_no_variant(tees, tmp_path):
    imported(tees, "Handle,Option1 Name,Option1 Value,Variant Price,Tags\ntee,,,,z\n", tmp_path, update=True)
    assert (sold(tees), Product.objects.get(shop=tees, slug="tee").tags) == (ALL, ["z"])


def test_shopifys_own_row_of_a_product_without_variants_counts_and_is_reported(tees, tmp_path):
    content = "Handle,Title,Option1 Name,Option1 Value,Variant Price\ntee,Tee,Title,Default Title,9\n"
    report = imported(tees, content, tmp_path, update=True)

    assert (report.updated, sold(tees)) == (1, {})
    assert "line 2: 3 variants that the file lacks are switched off" in warnings(report)


@pytest.mark.parametrize("type", ["simple", "grouped", "external"])
def test_a_row_of_another_type_keeps_the_variants(type, shop, tmp_path):
    imported(shop, MUG, tmp_path)
    before = sold(shop)
    report = imported(shop, [woo(type=type, sku="M", regular_price="15")], tmp_path, update=True)

    made = Product.objects.get(shop=shop)
    assert (made.type, sold(shop)) == ("variable", before)
    assert report.failed == (type == "simple")


def test_a_parent_without_variations_keeps_a_product_without_variants(shop, tmp_path):
    imported(shop, [woo(sku="M")], tmp_path)
    report = imported(shop, [PARENT], tmp_path, update=True)

    assert "none of them; it stays as it is" in errors(report)[0]
    made = Product.objects.get(shop=shop)
    assert (made.type, str(made.price)) == ("simple", "9.50")


def test_a_list_of_some_variants_keeps_the_others(tees, tmp_path):
    content = "Handle,Option1 Name,Option1 Value,Variant SKU,Variant Price\ntee,Size,M,T-M,99\n"
    report = imported(tees, content, tmp_path, update=True)
    assert (report.updated, sold(tees)) == (1, ALL | {"T-M": "99.00"})


def test_a_whole_file_switches_off_the_variants_that_it_lacks_and_says_so(tees, tmp_path):
    report = imported(tees, "".join(TEE.splitlines(True)[:2]), tmp_path, update=True)

    assert sold(tees) == {"T-S": "10.00"}
    assert warnings(report) == ["line 2: 2 variants that the file lacks are switched off"]


def test_a_native_list_of_skus_keeps_the_other_variants(tees, tmp_path):
    line = {"slug": "tee", "variants": [{"sku": "T-M", "price": "99"}]}
    imported(tees, as_lines(line), tmp_path, update=True)
    assert sold(tees) == ALL | {"T-M": "99.00"}


def test_a_native_list_with_options_is_complete(tees, tmp_path):
    line = {"slug": "tee", "variants": [{"option_values": {"Size": "M"}, "price": "99"}]}
    report = imported(tees, as_lines(line), tmp_path, update=True)

    assert sold(tees) == {"T-M": "99.00"}
    assert warnings(report) == ["line 1: 2 variants that the file lacks are switched off"]


def test_an_empty_attribute_keeps_the_one_that_variants_are_chosen_by(shop, tmp_path):
    imported(shop, MUG, tmp_path)
    content = "ID,SKU,Name,Attribute 1 name,Attribute 1 value(s),Regular price\n1,M,Cup,,,\n"
    report = imported(shop, content, tmp_path, update=True)

    made = Product.objects.get(shop=shop)
    assert (report.updated, made.name) == (1, "Cup")
    assert [item["name"] for item in made.attributes] == ["Colour"]


def test_a_renamed_option_is_taken_over_where_skus_tell_the_variants(tees, tmp_path):
    report = imported(tees, TEE.replace("Size", "Taille"), tmp_path, update=True)

    assert (report.updated, errors(report), sold(tees)) == (1, [], ALL)
    rows = Variant.objects.filter(shop=tees).order_by("pk")
    assert [row.option_values for row in rows] == [{"Taille": "S"}, {"Taille": "M"}, {"Taille": "L"}]

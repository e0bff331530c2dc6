"""Shopify's metafields of products are attributes, both ways."""

import csv
import io
import json
from collections import Counter

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.exporting import export_products
from tests.catalogue.factories import make_product
from tests.product_files.files import as_lines, errors, exported, imported, warnings
from tests.product_files.test_import_shopify import product, row, simple

CLOTH = "Cloth (product.metafields.custom.cloth)"


def attributes(shop, slug: str = "mug") -> list[dict]:
    return product(shop, slug).attributes


def columns(text: str) -> list[str]:
    return next(csv.reader(io.StringIO(text)))


@pytest.fixture
def both_ways(shop, other_shop, tmp_path):
    """Checks that the shop's export changes nothing there, and makes the same attributes in a shop without products."""

    def check(format: str = "shopify") -> str:
        before = {each.slug: each.attributes for each in Product.objects.filter(shop=shop)}
        text = exported(shop, format)
        report = imported(shop, text, tmp_path, update=True)
        assert (report.skipped, report.updated, errors(report)) == (len(before), 0, [])
        assert imported(other_shop, text, tmp_path).created == len(before)
        assert {each.slug: each.attributes for each in Product.objects.filter(shop=other_shop)} == before
        assert exported(other_shop, format) == text or format != "shopify"
        return text

    return check


def test_a_column_is_an_attribute_with_its_key_and_is_written_again(shop, tmp_path, both_ways):
    report = imported(shop, [simple() | {CLOTH: "Wool; Silk"}], tmp_path)
    assert (report.created, report.problems) == (1, [])
    assert attributes(shop) == [{"name": "Cloth", "values": ["Wool", "Silk"], "metafield": "custom.cloth"}]
    text = both_ways()
    assert CLOTH in columns(text)
    assert "Wool; Silk" in text


def test_a_native_file_keeps_the_key(shop, tmp_path, both_ways):
    imported(shop, [simple() | {CLOTH: "Wool"}], tmp_path)
    assert json.loads(both_ways("native"))["attributes"][0]["metafield"] == "custom.cloth"


@pytest.mark.parametrize("name", ["Größe", "=1+1", "A (b)", "a, “b”", "Größe (custom.x)"])
@pytest.mark.parametrize(
    "values", [["L", "M"], ["a; b"], [], [""], ["[1]"], [" a "], ["=2"], ["'=2"], ["a\nb"], ["gid"]]
)
def test_other_attributes_come_back_as_they_were(shop, both_ways, name, values):
    make_product(shop, "Mug", attributes=[{"name": name, "values": values}])
    make_product(shop, "Jug")
    both_ways()


def test_a_name_like_a_formula_is_guarded_in_the_header(shop):
    make_product(shop, "Mug", attributes=[{"name": "=1+1", "values": ["x"]}])
    assert next(each for each in columns(exported(shop, "shopify")) if "=" in each).startswith("'=1+1 (")


def test_names_that_differ_by_case_alone_come_back_as_they_were(shop, both_ways):
    make_product(shop, "Mug", attributes=[{"name": "Fit", "values": ["a"]}, {"name": "fit", "values": ["b"]}])
    both_ways()


def test_a_blank_cell_clears_its_attribute_and_a_column_that_is_absent_leaves_it(shop, other_shop, tmp_path):
    colour = "Colour (product.metafields.custom.colour)"
    for each in (shop, other_shop):
        imported(each, [simple() | {CLOTH: "Wool", colour: "Red"}], tmp_path)
    imported(shop, [simple() | {CLOTH: ""}], tmp_path, update=True)
    assert [each["name"] for each in attributes(shop)] == ["Colour"]
    assert [each["name"] for each in attributes(other_shop)] == ["Cloth", "Colour"]


def test_an_update_changes_the_attribute_with_the_key_in_its_place(shop, tmp_path):
    stored = [{"name": "Old", "values": ["Wool"], "metafield": "custom.cloth"}, {"name": "Care", "values": ["Cold"]}]
    make_product(shop, "Mug", attributes=stored)
    imported(shop, [simple() | {CLOTH: "Silk"}], tmp_path, update=True)
    assert attributes(shop) == [{"name": "Cloth", "values": ["Silk"], "metafield": "custom.cloth"}, stored[1]]


def test_one_label_of_two_keys_makes_two_attributes_and_is_said(shop, tmp_path, both_ways):
    other = "Cloth (product.metafields.spec.cloth)"
    report = imported(shop, [simple() | {CLOTH: "Wool", other: "Thick"}], tmp_path)
    assert warnings(report) == [
        f"line 1, {other}: has the label of another column; the attribute is named 'Cloth (spec.cloth)'"
    ]
    assert [(each["name"], each["values"]) for each in attributes(shop)] == [
        ("Cloth", ["Wool"]),
        ("Cloth (spec.cloth)", ["Thick"]),
    ]
    both_ways()


def test_two_labels_of_one_key_make_two_attributes(shop, tmp_path, both_ways):
    imported(shop, [simple() | {CLOTH: "Wool", "Stoff (product.metafields.custom.cloth)": "Wolle"}], tmp_path)
    assert [each["name"] for each in attributes(shop)] == ["Cloth", "Stoff"]
    both_ways()


def test_a_label_that_is_an_option_gets_its_key_and_options_are_no_metafields(shop, tmp_path, both_ways):
    column = "Colour (product.metafields.custom.colour)"
    rows = [
        row(title="Shirt", option="Colour", value="Blue", price="1") | {column: "Bluish"},
        row(value="Red", price="1"),
    ]
    imported(shop, rows, tmp_path)
    assert attributes(shop, "shirt") == [
        {"name": "Colour", "values": ["Blue", "Red"], "variation": True},
        {"name": "Colour (custom.colour)", "values": ["Bluish"], "metafield": "custom.colour"},
    ]
    assert "Colour (product.metafields.storefront.colour)" not in columns(both_ways())
    more = [*rows, row(value="Green", price="1")]
    imported(shop, [more[0] | {column: "New"}, *more[1:]], tmp_path, update=True)
    assert [each["values"] for each in attributes(shop, "shirt")] == [["Blue", "Red", "Green"], ["New"]]


@pytest.mark.parametrize(
    ("type", "cell", "values"),
    [
        ("single_line_text_field", "a; b", ["a; b"]),
        ("list.single_line_text_field", '["a","b; c"]', ["a", "b; c"]),
        ("boolean", "TRUE", ["TRUE"]),
        ("number_decimal", "1.50", ["1.50"]),
        ("list.number_decimal", "[1.50, 2]", ["1.50", "2"]),
        ("dimension", '{"value": 1.50, "unit": "cm"}', ["1.50 cm"]),
        ("money", '{"amount": "5.00", "currency_code": "EUR"}', ["5.00 EUR"]),
    ],
)
def test_a_type_in_the_header_says_how_its_values_are_read(shop, tmp_path, both_ways, type, cell, values):
    report = imported(shop, [simple() | {f"Metafield: custom.care_guide [{type}]": cell}], tmp_path)
    assert (report.created, report.problems) == (1, [])
    assert attributes(shop) == [{"name": "Care guide", "values": values, "metafield": "custom.care_guide"}]
    both_ways()


@pytest.mark.parametrize(("type", "expected"), [("boolean", "true or false"), ("number_integer", "a number")])
def test_a_value_that_does_not_fit_the_type_is_refused_with_line_and_column(shop, tmp_path, type, expected):
    report = imported(shop, [simple() | {f"Metafield: custom.x [{type}]": "maybe"}], tmp_path)
    assert errors(report) == [f"line 2, Metafield: custom.x [{type}]: expected {expected}, found 'maybe'"]
    assert not Product.objects.filter(shop=shop).exists()


@pytest.mark.parametrize(
    "column",
    [
        "Metafield: custom.x [rich_text_field]",
        "Metafield: custom.x [list.product_reference]",
        "Metafield: custom.x [json]",
        "Variant Metafield: custom.x [string]",
        "Cup (variant.metafields.custom.cup)",
        "Google: Custom Product (product.metafields.mm-google-shopping.custom_product)",
    ],
)
def test_what_has_no_place_among_attributes_is_said(shop, tmp_path, column):
    report = imported(shop, [simple() | {column: "x"}], tmp_path)
    assert warnings(report) == [f"line 2, {column}: is not imported; this is the first row with a value"]
    assert attributes(shop) == []


def test_a_reference_is_said_and_what_was_there_stays(shop, tmp_path):
    make_product(shop, "Mug", attributes=[{"name": "Cloth", "values": ["Wool"], "metafield": "custom.cloth"}])
    report = imported(shop, [simple() | {CLOTH: "gid://shopify/Metaobject/1"}], tmp_path, update=True)
    assert warnings(report) == [f"line 2, {CLOTH}: refers to something of the other shop; not imported"]
    assert [each["values"] for each in attributes(shop)] == [["Wool"]]


def test_attributes_above_the_limit_are_refused(shop, tmp_path):
    report = imported(shop, [simple() | {CLOTH: "a" * 100_001}], tmp_path)
    assert report.failed == 1
    assert errors(report)[0].startswith(f"line 2, {CLOTH}: and the other metafields: Expected at most 100,000 bytes")


def test_an_update_from_woocommerce_keeps_the_key(shop, tmp_path):
    imported(shop, [simple() | {CLOTH: "Wool"}], tmp_path)
    text = exported(shop, "woocommerce").replace("Wool", "Silk")
    assert imported(shop, text, tmp_path, update=True).updated == 1
    assert attributes(shop) == [{"name": "Cloth", "values": ["Silk"], "metafield": "custom.cloth"}]


def test_an_export_has_no_columns_of_another_shop(shop, other_shop):
    make_product(shop, "Mug")
    make_product(other_shop, "Mug", attributes=[{"name": "Secret", "values": ["x"]}])
    assert "Secret" not in exported(shop, "shopify")


def test_what_a_native_file_says_about_a_product_is_read(shop, tmp_path):
    given = {"name": "Mug", "price": "1", "attributes": [{"name": "Cloth", "values": ["W"], "metafield": "a.b"}]}
    imported(shop, as_lines(given), tmp_path)
    assert attributes(shop) == given["attributes"]


@pytest.mark.slow
def test_attributes_beyond_the_columns_that_a_file_can_have_are_left_out_and_said(shop, other_shop, tmp_path):
    make_product(shop, "Mug", attributes=[{"name": f"A{number}", "values": ["x"]} for number in range(2_100)])
    lost: Counter[str] = Counter()
    out = io.StringIO(newline="")
    export_products(shop=shop, format="shopify", out=out, lost=lost)
    assert lost == {"Attributes beyond the columns of a file": 1}
    assert imported(other_shop, out.getvalue(), tmp_path).created == 1
    assert 1_900 < len(attributes(other_shop)) < 2_000
    assert imported(shop, out.getvalue(), tmp_path, update=True).skipped == 1
    assert len(attributes(shop)) == 2_100

"""Any other table is read by a mapping of its columns."""

from decimal import Decimal

import pytest

from storefront.catalogue.models import Product
from storefront.product_files.encodings import UnreadableFile
from storefront.product_files.mapped.mapping import CONSTANTS, Mapping, from_toml, guessed_members, named
from tests.catalogue.factories import make_product
from tests.product_files.files import as_csv, errors, imported, warnings
from tests.product_files.workbooks import workbook

TOML = """
[columns]
name = "Artikel"
sku = "Art.-Nr."
price = "VK"
compare_price = "UVP"
stock_qty = "Bestand"
weight = "Gewicht"
categories = "Gruppe"
images = ["Bild 1", "Bild 2"]
group = "Modell"
option1_value = "Farbe"

[constants]
status = "draft"
brand = "Acme"
option1_name = "Colour"

[settings]
weight_unit = "g"
list_separator = ";"
level_separator = "/"
"""
HEADERS = ["Artikel", "Art.-Nr.", "VK", "UVP", "Bestand", "Gewicht", "Gruppe", "Bild 1", "Bild 2", "Modell", "Farbe"]
MUG = ["Mug", "M-1", "9,50 €", "12,00", "4", "350", "Kitchen/Cups; New", "https://a.example.com/1.jpg"]
MUG += ["https://a.example.com/2.jpg", "", ""]
TEE = [
    ["Tee", "T-R", "20", "", "1", "200", "", "", "", "T", "Red"],
    ["Tee", "T-B", "22", "", "", "200", "", "", "", "T", "Blue"],
]


@pytest.fixture
def mapping(tmp_path) -> Mapping:
    (tmp_path / "map.toml").write_text(TOML)
    return from_toml(tmp_path / "map.toml")


def table(*rows: list[str], headers: list[str] = HEADERS) -> list[dict[str, str]]:
    return [dict(zip(headers, row, strict=True)) for row in rows]


def test_columns_constants_and_settings_make_products(shop, tmp_path, mapping):
    report = imported(shop, as_csv(table(MUG, *TEE), ";"), tmp_path, mapping=mapping)
    assert (report.created, report.problems) == (2, [])
    mug = Product.objects.get(shop=shop, sku="M-1")
    assert (mug.name, mug.price, mug.compare_price, mug.stock_qty) == ("Mug", Decimal("9.5"), 12, 4)
    assert (mug.status, mug.brand.name, mug.weight) == ("draft", "Acme", Decimal("0.35"))
    assert sorted(each.name for each in mug.categories.all()) == ["Cups", "New"]
    assert [each.source_url[-5:] for each in mug.media.all()] == ["1.jpg", "2.jpg"]
    tee = Product.objects.get(shop=shop, name="Tee")
    found = [(each.sku, each.option_values, each.price, each.track_inventory) for each in tee.variants.all()]
    assert found == [("T-R", {"Colour": "Red"}, 20, True), ("T-B", {"Colour": "Blue"}, 22, False)]


def test_a_workbook_is_read_by_the_same_mapping_and_a_second_import_changes_nothing(shop, tmp_path, mapping):
    imported(shop, as_csv(table(MUG, *TEE), "\t"), tmp_path, mapping=mapping)
    report = imported(shop, workbook([HEADERS, MUG, *TEE]), tmp_path, mapping=mapping, update=True)
    assert (report.skipped, report.updated, report.changes) == (2, 0, [])


def test_a_file_of_skus_and_prices_changes_nothing_else(shop, other_shop, tmp_path):
    make_product(shop, "Mug", sku="M-1", price="5.00", stock_qty=3)
    theirs = make_product(other_shop, "Mug", sku="M-1", price="5.00")
    rows = [{"Artikel": "M-1", "Preis": "9,50"}, {"Artikel": "X", "Preis": "1"}]
    report = imported(shop, rows, tmp_path, mapping=Mapping({"Artikel": "sku", "Preis": "price"}), update=True)
    assert report.changes[0]["fields"].keys() == {"price"}
    assert errors(report) == [
        "line 3: no product or variant has the SKU X, and a new product needs a column that is its name"
    ]
    theirs.refresh_from_db()
    assert theirs.price == 5


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"VK": "9,50 USD"}, "line 2, VK: expected a number, found '9,50 USD'"),
        ({"VK": ""}, "line 2, VK: is empty"),
        ({"Bestand": "some"}, "line 2, Bestand: expected a number, found 'some'"),
        ({"Artikel": ""}, "line 2, Artikel: is empty"),
    ],
)
def test_what_cannot_be_read_names_line_and_column(shop, tmp_path, mapping, change, problem):
    report = imported(shop, [table(MUG)[0] | change], tmp_path, mapping=mapping)
    assert errors(report) == [problem]
    assert not Product.objects.exists()


def test_a_column_without_a_member_is_reported_once(shop, tmp_path, mapping):
    report = imported(shop, [each | {"Lager": "A"} for each in table(MUG, *TEE)], tmp_path, mapping=mapping)
    assert warnings(report) == ["line 2, Lager: is not imported; this is the first row with a value"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("columns = 1", "columns is not a table"),
        ("[columns]\nname = 'A'\nsku = 'A'", "the column A has two members"),
        ("[columns]\ncolour = 'A'\nname = 'B'", "colour is not a member of products"),
        ("[columns]\nprice = 'A'", "no column is the name, SKU or slug"),
        ("[columns]\nname = ['A', 'B']", "Name has 2 columns"),
        ("[columns]\nname = 'A'\n[constants]\nprice = '1'", "Price cannot be a constant"),
        ("[columns]\nname = 'A'\nbrand = 'B'\n[constants]\nbrand = 'C'", "Brand has both a column and a constant"),
        ("[columns]\nname = 'A'\noption1_value = 'B'", "option 1 has values, but no name"),
        ("[columns]\nname = 'A'\n[settings]\nweight_unit = 'stone'", "the unit of weight must be one of kg, g"),
        ("[columns]\nname = 'A'\n[settings]\nunit = 'kg'", "unit is not one of weight_unit"),
        ("[columns\n", "is not valid TOML"),
        ("[other]\na = 'b'\n[columns]\nname = 'A'", "other is not one of columns"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_refused_with_the_reason(tmp_path, text, problem):
    (tmp_path / "map.toml").write_text(text)
    with pytest.raises(UnreadableFile) as refusal:
        from_toml(tmp_path / "map.toml")
    assert problem in str(refusal.value)


def test_a_mapping_for_another_file_is_refused_before_anything_is_imported(shop, tmp_path, mapping):
    with pytest.raises(UnreadableFile, match=r"does not fit: the file has no column VK"):
        imported(shop, [{"Artikel": "Mug", "Art.-Nr.": "M"}], tmp_path, mapping=mapping)
    assert not Product.objects.exists()


def test_members_are_guessed_from_usual_headers():
    headers = ["Product Name", "Art.-Nr.", "Preis", "EAN", "image 1", "image 2", "Price", "Something"]
    assert guessed_members(headers) == {
        "Product Name": "name",
        "Art.-Nr.": "sku",
        "Preis": "price",
        "EAN": "barcode",
        "image 1": "images",
        "image 2": "images",
    }


@pytest.mark.parametrize(("member", "value"), [(member, "5") for member in CONSTANTS if member != "status"])
def test_each_constant_is_read_for_every_product(shop, tmp_path, member, value):
    given = Mapping(
        {"Artikel": "name", "VK": "price", "Farbe": "option1_value"}, {"option1_name": "Colour"} | {member: value}
    )
    report = imported(shop, [{"Artikel": "Mug", "VK": "9", "Farbe": "Red"}], tmp_path, mapping=given)
    assert (report.created, report.problems) == (1, [])


def test_a_constant_that_cannot_be_read_is_named(shop, tmp_path):
    given = Mapping({"Artikel": "name", "VK": "price"}, {"stock_qty": "some"})
    report = imported(shop, [{"Artikel": "Mug", "VK": "9"}], tmp_path, mapping=given)
    assert errors(report) == ["line 2, stock_qty: expected a number, found 'some'"]


def test_a_blank_status_keeps_that_of_the_product(shop, tmp_path):
    rows = [{"Artikel": "Mug", "VK": "9", "Status": "draft"}, {"Artikel": "Cup", "VK": "9", "Status": ""}]
    given = Mapping({"Artikel": "name", "VK": "price", "Status": "status"})
    imported(shop, rows, tmp_path, mapping=given)
    imported(shop, [each | {"Status": "", "VK": "8"} for each in rows], tmp_path, mapping=given, update=True)
    found = Product.objects.filter(shop=shop).order_by("name").values_list("name", "status", "price")
    assert list(found) == [("Cup", "active", 8), ("Mug", "draft", 8)]


def test_a_table_with_some_of_the_variants_leaves_the_others(shop, tmp_path, mapping):
    imported(shop, table(*TEE), tmp_path, mapping=mapping)
    imported(shop, table([*TEE[0][:2], "25", *TEE[0][3:]]), tmp_path, mapping=mapping, update=True)
    found = Product.objects.get(shop=shop).variants.order_by("sku").values_list("sku", "price", "is_active")
    assert list(found) == [("T-B", 22, True), ("T-R", 25, True)]


def test_columns_of_the_same_header_have_numbers_and_those_without_one_their_place():
    assert named(["A", "a", "", "A (2)", "A"]) == ["A", "a (3)", "column 3", "A (2)", "A (4)"]

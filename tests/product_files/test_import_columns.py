"""What an import says about the columns of a file, and rows that are written in unusual ways."""

import csv
from pathlib import Path

import pytest

from storefront.catalogue.models import Product, RelatedProduct
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.woocommerce import headers
from tests.catalogue.factories import make_product
from tests.product_files.files import as_csv, errors, imported, warnings, woo


def about_columns(report) -> list[str]:
    return [f"{problem.column}: {problem.reason}" for problem in report.problems if problem.severity == "warning"]


def test_unknown_columns_are_listed_once_with_the_known_one_that_each_resembles(shop, tmp_path):
    rows = [woo(sku=str(n)) | {"Categorys": "Cups", "Backorder allowed": "1", "Colour of lid": "Red"} for n in range(3)]
    report = imported(shop, rows, tmp_path)
    assert (report.created, errors(report)) == (3, [])
    assert about_columns(report) == [
        'Categorys: is not a known column; not imported. Did you mean "Categories"?',
        'Backorder allowed: is not a known column; not imported. Did you mean "Backorders allowed?"?',
        "Colour of lid: is not a known column; not imported.",
    ]
    assert {problem.line for problem in report.problems} == {1}


def test_an_unknown_header_is_compared_with_those_of_the_files_language(shop, tmp_path):
    content = "Artikelnummer;Name;Regulärer Preis;Kurzbeschreibungen\nA;Becher;9,50;Tassen\n"
    assert about_columns(imported(shop, content, tmp_path)) == [
        'Kurzbeschreibungen: is not a known column; not imported. Did you mean "Kurzbeschreibung"?'
    ]


def test_a_header_of_another_language_is_read_and_said(shop, tmp_path):
    report = imported(shop, "SKU,Name,Regular price,Stok\nA,Mug,9.50,7\n", tmp_path)
    assert about_columns(report) == ["Stok: is read as Stock"]
    assert Product.objects.get(shop=shop).stock_qty == 7


def test_woocommerces_own_misspelling_is_read_and_said(shop, tmp_path):
    content = "Artikelnummer;Name;Regulärer Preis;Lieferrückstande erlaubt?\nA;Becher;9,50;1\n"
    report = imported(shop, content, tmp_path)
    assert about_columns(report) == ["Lieferrückstande erlaubt?: is read as Lieferrückstände erlaubt?"]
    assert Product.objects.get(shop=shop).allow_backorders


def test_a_column_without_a_header_is_named_by_its_position(shop, tmp_path):
    report = imported(shop, "SKU,,Name,Regular price\nA,x,Mug,1\n", tmp_path)
    assert about_columns(report) == ["column 2: has no header; not imported"]


def test_known_columns_that_are_not_imported_are_said_once_if_they_have_values(shop, tmp_path):
    lost = {"Purchase note": "Thanks", "Download 1 name": "Song", "Download 1 URL": "https://a.example.com/1.mp3"}
    nothing = {"Purchase note": "", "Sold individually?": "0", "Download 1 name": "", "Download 1 URL": ""}
    nothing |= {"Allow customer reviews?": "1", "Attribute 1 visible": "1", "Meta: _custom": ""}
    report = imported(shop, [woo(sku="A") | nothing, woo(sku="B") | lost, woo(sku="C") | lost], tmp_path)
    assert report.created == 3
    assert warnings(report) == [
        f"line 3, {column}: is not imported; this is the first row with a value"
        for column in ("Purchase note", "Download 1 name", "Download 1 URL")
    ]


def test_shopifys_columns_that_are_not_imported_are_said_once(shop, tmp_path):
    row = {"Handle": "mug", "Title": "Mug", "Variant Price": "9.50", "Variant Fulfillment Service": "manual"}
    lost = {"Google Shopping / MPN": "1", "Cloth (variant.metafields.custom.cloth)": "Wool", "Variant Pryce": "1"}
    report = imported(shop, [row, row | {"Handle": "cup"} | lost, row | {"Handle": "jug"} | lost], tmp_path)
    assert warnings(report) == [
        'line 1, Variant Pryce: is not a known column; not imported. Did you mean "Variant Price"?',
        "line 3, Google Shopping / MPN: is not imported; this is the first row with a value",
        "line 3, Cloth (variant.metafields.custom.cloth): is not imported; this is the first row with a value",
    ]


def test_a_dry_run_says_the_same(shop, tmp_path):
    rows = [woo() | {"Categorys": "Cups", "Purchase note": "Thanks"}]
    said = imported(shop, rows, tmp_path, dry_run=True).problems
    assert said == imported(shop, rows, tmp_path).problems
    assert len(said) == 2


def test_repeated_header_rows_are_skipped_and_said(shop, tmp_path):
    content = as_csv([woo(sku="A")]) + as_csv([woo(sku="B")])
    report = imported(shop, content, tmp_path)
    assert (report.created, report.failed) == (2, 0)
    assert warnings(report) == ["line 3: repeats the header row; skipped"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_padding_round_quoted_values(shop, tmp_path, separator):
    lines = [
        ['"SKU"', ' "Name"', '"Regular price" ', ' "Short description" '],
        ['"A"  ', f'  "Mug{separator} ""big""" ', ' "9.50"', f' "one "" {separator} two\nthree" {separator} four" '],
        ["B", f'"""Cup""  {separator}" ', " 8 ", ' "plain" '],
    ]
    lines[1][3] = f' "one "" {separator} two\nthree "" {separator} four" '
    report = imported(shop, "".join(separator.join(line) + "\r\n" for line in lines), tmp_path)
    assert (report.created, report.problems) == (2, [])
    found = Product.objects.filter(shop=shop).order_by("sku").values_list("sku", "name", "short_description")
    assert list(found) == [
        ("A", f'Mug{separator} "big"', f'one " {separator} two\nthree " {separator} four'),
        ("B", f'"Cup"  {separator}'.strip(), "plain"),
    ]


def test_blank_columns_of_a_file_with_tabs_stay(shop, tmp_path):
    report = imported(shop, 'SKU\tName\tStock\tRegular price\n"A"\t"Mug"\t\t9.50\n', tmp_path)
    assert (report.created, report.problems) == (1, [])


WORDS = list(csv.DictReader(Path(headers.__file__).with_name("headers.csv").open(encoding="utf-8", newline="")))
LANGUAGES = sorted({row["language"] for row in WORDS} - {"en"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_in_every_language(shop, other_shop, tmp_path, language):
    spelt = {row["column"]: row["header"] for row in reversed(WORDS) if row["language"] == "en"}
    spelt |= {row["column"]: row["header"] for row in reversed(WORDS) if row["language"] == language}
    values = {
        "sku": "M1", "name": "Mug", "published": "1", "regular price": "9.50", "sale price": "8.50", "stock": "7",
        "categories": "Cups", "featured": "1", "backorders": "1", "attribute # name": "Size", "tags": "new",
        "attribute # values": "L", "weight": "2", "length": "5", "low stock": "3", "description": "Big",
    }  # fmt: skip
    units = {"weight": " (kg)", "length": " (cm)"}
    row = {spelt[column].replace("#", "1") + units.get(column, ""): value for column, value in values.items()}
    report = imported(shop, [row], tmp_path)
    assert (report.created, report.problems) == (1, [])
    made = Product.objects.get(shop=shop)
    assert (made.name, made.sku, made.status, str(made.price), made.stock_qty) == ("Mug", "M1", "active", "8.50", 7)
    assert (made.categories.get().name, made.is_featured, made.allow_backorders) == ("Cups", True, True)
    assert (made.attributes, made.tags) == ([{"name": "Size", "values": ["L"]}], ["new"])
    assert (made.weight, made.length, made.low_stock_threshold, made.description) == (2, 5, 3, "Big")
    assert not Product.objects.filter(shop=other_shop).exists()


def test_no_header_means_two_columns_in_two_languages():
    by_header: dict[str, dict[str, set[str]]] = {}
    for row in WORDS:
        by_header.setdefault(row["header"].casefold(), {}).setdefault(row["column"], set()).add(row["language"])
    double = {header: columns for header, columns in by_header.items() if len(columns) > 1}
    assert double == {
        "交叉销售": {"up-sells": {"zh-CN"}, "cross-sells": {"zh-CN"}},
        "tulajdonság neve #": {"attribute # name": {"hu"}, "attribute # default": {"hu"}},
    }


def test_a_word_of_two_columns_means_the_first_and_then_the_second(shop, tmp_path):
    imported(shop, [woo(sku="A", name="Jug"), woo(sku="B", name="Cup")], tmp_path)
    content = "SKU,名称,常规售价,交叉销售,交叉销售\nC,Mug,9.50,A,B\n"
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (1, [])
    found = RelatedProduct.objects.filter(shop=shop).values_list("kind", "related_product__sku")
    assert set(found) == {("up_sell", "A"), ("cross_sell", "B")}


def test_a_word_of_two_columns_means_the_one_that_no_other_header_is(shop, tmp_path):
    imported(shop, [woo(sku="A", name="Jug"), woo(sku="B", name="Cup")], tmp_path)
    report = imported(shop, "SKU,名称,常规售价,交叉销售,Upsells\nC,Mug,9.50,A,B\n", tmp_path)
    assert warnings(report) == ["line 1, 交叉销售: is read as Cross-sells"]
    found = RelatedProduct.objects.filter(shop=shop).values_list("kind", "related_product__sku")
    assert set(found) == {("cross_sell", "A"), ("up_sell", "B")}


def test_a_hidden_product_of_a_british_shop_is_in_no_list(shop, other_shop, tmp_path):
    report = imported(shop, "SKU,Name,Visibility in catalogue,Regular price\nA,Mug,hidden,9.50\n", tmp_path)
    assert (report.created, report.problems) == (1, [])
    assert Product.objects.get().exclude_from_catalog


@pytest.mark.parametrize("header", ["元数据：rank_math_title", "메타: rank_math_title", "Metatieto: rank_math_title"])
def test_custom_fields_are_known_in_every_language(header):
    assert headers.column_of(header) == "rank math title"


def test_the_refusal_and_the_guide_name_every_language(shop, tmp_path):
    assert {*LANGUAGES, "en"} == headers.LANGUAGES.keys()
    with pytest.raises(UnreadableFile, match=headers.languages()):
        imported(shop, "A,B\n1,2\n", tmp_path)
    guide = (Path(headers.__file__).parents[3] / "docs/product-files.md").read_text(encoding="utf-8")
    assert f"WooCommerce's headers can be in {headers.languages()}." in " ".join(guide.split())


@pytest.mark.parametrize(
    ("columns", "lost"),
    [
        ({"Attribute 1 value(s)": "Red"}, "Attribute 1 value(s)"),
        ({"Attribute 1 name": "Colour"}, "Attribute 1 name"),
        (
            {"Attribute 2 name": "Size", "Attribute 2 value(s)": "M", "Attribute 1 value(s)": "Red"},
            "Attribute 1 value(s)",
        ),
    ],
)
def test_half_of_an_attribute_is_reported_once(shop, tmp_path, columns, lost):
    rows = [woo(sku="A") | dict.fromkeys(columns, ""), woo(sku="B") | columns, woo(sku="C") | columns]
    report = imported(shop, rows, tmp_path)
    assert (report.created, warnings(report)) == (
        3, [f"line 3, {lost}: is not imported; this is the first row with a value"]
    )  # fmt: skip


def test_a_row_without_a_slug_in_a_file_of_slugs_makes_no_product(shop, tmp_path):
    report = imported(shop, "Name,Slug,Regular price\nMug,mug,5\nMug - Blue,,6\n", tmp_path)
    assert (report.created, report.failed) == (1, 1)
    assert "line 3: the row has no slug, so it may be a variation" in errors(report)[0]
    typed = "Type,Name,Slug,Regular price\nsimple,Cup,,6\n"
    assert imported(shop, typed, tmp_path).created == 1


def test_columns_of_the_second_attribute_alone_keep_the_others(shop, tmp_path):
    mug = make_product(shop, "Mug", sku="A", attributes=[{"name": "Material", "values": ["Clay"]}])
    content = "SKU,Name,Regular price,Attribute 2 name,Attribute 2 value(s)\nA,Mug,5,,\n"
    imported(shop, content, tmp_path, update=True)
    mug.refresh_from_db()
    assert mug.attributes == [{"name": "Material", "values": ["Clay"]}]

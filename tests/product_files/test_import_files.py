"""Encodings, separators and headers are detected, malformed rows are reported, and other files are refused."""

import tracemalloc

import pytest

from storefront.catalogue.models import Product
from storefront.product_files import csv_reading
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.importing import import_products
from tests.product_files.files import as_csv, errors, imported, warnings, woo, zipped
from tests.shops.factories import NOW

ROW = woo(sku="T1", name="Tasse für Grüße")


def names(shop) -> list[str]:
    return list(Product.objects.filter(shop=shop).order_by("id").values_list("name", flat=True))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings(shop, tmp_path, encoding):
    report = imported(shop, as_csv([ROW]).encode(encoding), tmp_path)
    assert (report.created, errors(report), warnings(report)) == (1, [], [])
    assert names(shop) == ["Tasse für Grüße"]


def test_texts_of_many_scripts_in_utf_16(shop, tmp_path):
    texts = ["Vélo", "دراجة", "אופניים", "จักรยาน", "自行车"]
    imported(shop, as_csv([woo(sku=text, name=text) for text in texts], ";").encode("utf-16"), tmp_path)
    assert names(shop) == texts
    assert list(Product.objects.filter(shop=shop).order_by("id").values_list("slug", flat=True)) == [
        "velo", "دراجة", "אופניים", "จักรยาน", "自行车",
    ]  # fmt: skip


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(shop, tmp_path, separator, line_end):
    rows = [ROW | {"Description": "one\ntwo"}, woo(sku="T2", name="a,b;c")]
    report = imported(shop, as_csv(rows, separator, line_end), tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert names(shop) == ["Tasse für Grüße", "a,b;c"]
    assert Product.objects.get(shop=shop, sku="T1").description == "one\ntwo"


def test_mixed_line_ends_within_and_between_rows(shop, tmp_path):
    content = 'SKU,Name,Description,Regular price\r\nA,One,"x\r\ny\nz",1\nB,Two,,2\r\n\r\n,,,\n'
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert Product.objects.get(shop=shop, sku="A").description == "x\ny\nz"


def test_a_bom_after_an_empty_line_and_a_translated_header(shop, tmp_path):
    content = (
        "\n\ufeffID,Тип,Артикул,Имя,Опубликован,Базовая цена,Категории,Имя атрибута 1,Значение(-я) аттрибута(-ов) 1\n"
    )
    content += "1,simple,A,Чашка,1,9.5,Кухня > Чашки,Цвет,Синий\n"
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (1, [])
    made = Product.objects.get(shop=shop)
    assert (made.name, made.categories.get().name) == ("Чашка", "Чашки")
    assert made.attributes == [{"name": "Цвет", "values": ["Синий"]}]


def test_padded_values_and_headers(shop, tmp_path):
    content = (
        "SKU  , Name      , Regular price ,\n A   ,  Mug      ,   9.50        ,\n     ,           ,               ,\n"
    )
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (1, [])
    assert names(shop) == ["Mug"]


def test_a_separator_line_is_ignored(shop, tmp_path):
    assert imported(shop, "sep=;\nSKU;Name;Regular price\nA;Mug;9,50\n", tmp_path).created == 1


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "The file is empty; expected a header row followed by products."),
        ("\n\n", "The file is empty"),
        ("9781,Books,Mug,9.50\n9782,Books,Cup,8\n", "does not match a supported product file. It begins: 9781, Books"),
        ("slug,sku,name,price\nmug,M,Mug,9\n", "shopify: Handle (or URL handle), Title"),
        ("SKU,Name,Regular price,sku \nA,Mug,1,B\n", "The header has SKU and sku, which mean the same"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", "The file is not text; expected a CSV file in UTF-8."),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "This is an old or protected Excel workbook. Save it as .xlsx"),
        (zipped("xl/workbook.xml"), "The Excel workbook is damaged"),
        (zipped("xl/workbook.bin"), "This is an Excel workbook of another kind than .xlsx. Save it as CSV UTF-8"),
        (zipped("content.xml"), "This is an OpenDocument spreadsheet. Save it as CSV UTF-8"),
        (zipped("products.csv"), "This is a ZIP archive. Unpack it"),
        (b"PK\x03\x04 cut off", "This is a ZIP archive. Unpack it"),
        ("[{}]", "Expected JSON Lines, one product a line"),
        (
            "SKU,Name,Regular price,Weight (stone)\nA,Mug,1,1\n",
            "The units in the header are not supported; expected one of kg",
        ),
    ],
)  # fmt: skip
def test_other_files_are_refused_with_what_was_expected(shop, tmp_path, content, sentence):
    with pytest.raises(UnreadableFile) as refusal:
        imported(shop, content, tmp_path)
    assert sentence in str(refusal.value)
    assert not Product.objects.exists()


def test_a_missing_file_and_an_unknown_format(shop, tmp_path):
    with pytest.raises(UnreadableFile, match="There is no file"):
        import_products(shop=shop, file=tmp_path / "nothing.csv", now=NOW)
    with pytest.raises(UnreadableFile, match="is not a file"):
        import_products(shop=shop, file=tmp_path, now=NOW)
    with pytest.raises(UnreadableFile, match="expected one of auto, woocommerce, shopify"):
        imported(shop, [ROW], tmp_path, format="excel")


def test_an_unbalanced_quote_fails_only_its_own_row(shop, tmp_path):
    rows = ['B,"Two,2', "C,Three,3", 'D,"Fo""ur",4', "E,Five,5,extra", "F,Six", "G,Seven,7"]
    report = imported(shop, "SKU,Name,Regular price\nA,One,1\n" + "\n".join(rows) + "\n", tmp_path)
    assert names(shop) == ["One", "Three", 'Fo"ur', "Six", "Seven"]
    assert report.failed == 2
    assert [problem.line for problem in report.problems] == [3, 6, 7]
    assert errors(report)[1:] == ["line 6: the row has 4 columns, but the header has 3"]
    assert "a quotation mark is missing" in errors(report)[0]


def test_a_quote_that_is_never_closed_does_not_swallow_the_file(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reading, "MAX_ROW_LENGTH", 5_000)
    lines = [f"S{number},Mug {number},1" for number in range(1_000)]
    lines[0] = 'S0,"Mug,1'
    report = imported(shop, "SKU,Name,Regular price\n" + "\n".join(lines) + "\n", tmp_path)
    assert (report.created, report.failed) == (999, 1)


def test_values_that_no_column_can_store_fail_on_every_database(shop, tmp_path):
    rows = [
        woo(sku="A", name="x" * 501),
        woo(sku="B", name="a\0b"),
        woo(sku="C", regular_price="9" * 13),
        woo(sku="D", position="3000000000"),
        woo(sku="E", regular_price="NaN"),
        woo(sku="F", description="y" * 10_023),
    ]
    report = imported(shop, rows, tmp_path)
    assert [(problem.line, problem.column) for problem in report.problems] == [
        (2, "Name"), (3, "Name"), (4, "Regular price"), (5, "Position"), (6, "Regular price"),
    ]  # fmt: skip
    assert (report.created, report.failed) == (1, 5)


@pytest.mark.slow
def test_memory_is_flat_in_the_number_of_rows(shop, tmp_path):
    def peak(count: int) -> int:
        rows = [woo(id=str(number), sku=f"S{number}", name=f"Mug {number}") for number in range(1, count)]
        (tmp_path / "file").write_text(as_csv(rows))
        del rows
        tracemalloc.start()
        import_products(shop=shop, file=tmp_path / "file", now=NOW, dry_run=True)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(12_000) < 1.3 * peak(3_000)

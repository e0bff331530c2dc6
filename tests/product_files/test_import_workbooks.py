"""Excel workbooks are read as tables of any format, and damaged or oversized ones are refused before an import."""

import io
from datetime import date, datetime
from decimal import Decimal
from zipfile import ZipFile

import pytest

from storefront.catalogue.models import Product
from storefront.product_files import workbook_parts, workbooks
from storefront.product_files.encodings import UnreadableFile
from storefront.product_files.workbooks import Workbook
from tests.product_files.files import errors, imported, warnings
from tests.product_files.workbooks import with_part, workbook

HEADER = ["SKU", "Name", "Published", "Regular price", "Stock", "Short description"]
SHEET = "xl/worksheets/sheet1.xml"
XML = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)


def rows_of(content: bytes, tmp_path, sheet: str = "") -> list:
    (tmp_path / "book.xlsx").write_bytes(content)
    table = Workbook(tmp_path / "book.xlsx", sheet)
    table.find_header(lambda header: header)
    return [table.headers, *(getattr(row, "values", row) for row in table.rows())]


def test_a_woocommerce_file_that_was_saved_by_excel_is_read_by_its_format(shop, tmp_path):
    rows = [HEADER, ["A-1", "Mug", True, 9.99, 4, "Blue"], [], [4006381333931, "Cup", 1, 8, None, None]]
    report = imported(shop, workbook(rows), tmp_path)
    assert (report.created, errors(report)) == (2, [])
    mug, cup = Product.objects.filter(shop=shop).order_by("id")
    assert (mug.sku, mug.price, mug.stock_qty, mug.status) == ("A-1", Decimal("9.99"), 4, "active")
    assert (cup.sku, cup.name, cup.price) == ("4006381333931", "Cup", 8)
    assert imported(shop, workbook(rows), tmp_path, update=True).updated == 0


def test_values_are_what_the_spreadsheet_shows(tmp_path):
    noon = datetime.fromisoformat("2026-01-05T12:30:00")
    values = [0.1 + 0.2, 19.99 * 100, 1e21, noon.replace(hour=0, minute=0), noon, date(2026, 2, 1), False]
    found = rows_of(workbook([[f"c{n}" for n in range(7)], values]), tmp_path)
    shown = ["0.3", "1999", "1" + "0" * 21, "2026-01-05", "2026-01-05T12:30:00", "2026-02-01", "FALSE"]
    assert found[1] == shown


def test_errors_are_refused_with_line_and_column(shop, tmp_path):
    rows = [HEADER, ["A", "Mug", 1, "#REF!"], ["B", "Cup", 1, "=1+1"], ["C", "Jar", 1, 5]]
    report = imported(shop, workbook(rows), tmp_path)
    assert errors(report) == [
        "line 2, Regular price: is the error #REF!, not a value",
        "line 3, Regular price: is a formula without a value; open the file in a spreadsheet program and save it again",
    ]
    assert [each.name for each in Product.objects.all()] == ["Jar"]


def test_a_row_with_more_values_than_the_header_is_refused(shop, tmp_path):
    report = imported(shop, workbook([HEADER, ["A", "Mug", 1, 5, 1, "", "extra"]]), tmp_path)
    assert errors(report) == ["line 2: the row has 7 columns, but the header has 6"]


def test_the_first_sheet_with_a_header_is_read_unless_another_is_named(shop, tmp_path):
    book = workbook([["Our products"]], [HEADER, ["A", "Mug", 1, 5]], [HEADER, ["B", "Cup", 1, 6]])
    report = imported(shop, book, tmp_path)
    assert "Only the sheet Sheet 2 was read; the others are not imported." in [each.reason for each in report.problems]
    assert imported(shop, book, tmp_path, sheet="Sheet 3").created == 1
    assert sorted(each.name for each in Product.objects.all()) == ["Cup", "Mug"]
    with pytest.raises(UnreadableFile, match="no sheet Sheet 9; it has Sheet 1, Sheet 2, Sheet 3"):
        imported(shop, book, tmp_path, sheet="Sheet 9")
    with pytest.raises(UnreadableFile, match="Only an Excel workbook"):
        imported(shop, "SKU,Name,Regular price\n", tmp_path, sheet="Sheet 1")


def test_a_bomb_is_refused_before_it_is_unpacked(shop, tmp_path, monkeypatch):
    book = with_part(workbook([HEADER, ["A", "Mug", 1, 5]]), SHEET, XML.format(" " * 3_000_000).encode())
    assert len(book) < 20_000
    monkeypatch.setattr(workbook_parts, "MAX_UNPACKED_BYTES", 2_000_000)
    monkeypatch.setattr(workbooks, "read_workbook", None)
    with pytest.raises(UnreadableFile, match="bytes when it is unpacked; at most 2,000,000 are read"):
        imported(shop, book, tmp_path)


def refusal(content: bytes, shop, tmp_path) -> str:
    with pytest.raises(UnreadableFile) as refused:
        imported(shop, content, tmp_path)
    return str(refused.value)


def test_parts_that_are_no_tables_are_refused_before_they_are_parsed(shop, tmp_path):
    book = workbook([HEADER, ["A", "Mug", 1, 5]])
    with ZipFile(io.BytesIO(book)) as archive:
        styles = archive.read("xl/styles.xml")
    formats = b"".join(b'<xf numFmtId="%d"/>' % n for n in range(120_000))
    large = with_part(book, "xl/styles.xml", styles.replace(b"</cellXfs>", formats + b"</cellXfs>"))
    assert "more than 2,097,152 bytes of styles, names and the like" in refusal(large, shop, tmp_path)
    rows = XML.format("<row/>" * 300_000).encode()
    assert "The part xl/worksheets/sheet1.xml of the Excel workbook" in refusal(
        with_part(book, SHEET, rows), shop, tmp_path
    )
    moved = with_part(with_part(book, "xl/media/a.xml", rows), "xl/_rels/workbook.xml.rels", RELATIONS)
    assert "The part xl/media/a.xml of the Excel workbook" in refusal(moved, shop, tmp_path)
    assert not Product.objects.exists()


def test_texts_above_the_bound_are_refused(shop, tmp_path, monkeypatch):
    monkeypatch.setattr(workbook_parts, "MAX_TEXT_BYTES", 10)
    book = with_part(workbook([HEADER, ["A", "Mug", 1, 5]]), "xl/sharedStrings.xml", b"<sst><si/></sst>")
    with ZipFile(io.BytesIO(book)) as archive:
        types = archive.read("[Content_Types].xml").replace(b"</Types>", TEXTS + b"</Types>")
    assert "has more than 10 bytes of texts" in refusal(with_part(book, "[Content_Types].xml", types), shop, tmp_path)


TEXTS = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)
RELATIONS = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
    b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    b'Target="/xl/media/a.xml"/></Relationships>'
)
ENTITIES = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
LAUGHS = f'<!DOCTYPE x [<!ENTITY a0 "{"ha" * 100}">{ENTITIES}]>'


@pytest.mark.parametrize(
    "part",
    [
        XML.format('<row r="1"><c t="s"><v>99</v></c></row>'),
        XML.format('<row r="1"><c><v>1</v>'),
        "not XML",
        LAUGHS + XML.format('<row r="1"><c t="str"><v>&a9;</v></c></row>'),
        XML.format(f'<row r="1"><c><v>{"9" * 10_000}</v></c></row>'),
    ],
    ids=["a text that is not there", "cut off", "no XML", "entities", "a huge number"],
)
def test_a_damaged_workbook_is_refused_with_a_sentence(shop, tmp_path, part):
    with pytest.raises(UnreadableFile, match="The Excel workbook is damaged"):
        imported(shop, with_part(workbook([HEADER]), SHEET, part.encode()), tmp_path)


def test_rows_and_columns_beyond_the_bounds_are_refused(shop, tmp_path):
    head = '<row r="1"><c r="A1" t="str"><v>SKU</v></c><c r="B1" t="str"><v>Regular price</v></c></row>'
    far = XML.format(head + '<row r="99999999999"><c><v>1</v></c></row>')
    with pytest.raises(UnreadableFile, match="has more than 1,048,576 rows"):
        imported(shop, with_part(workbook([HEADER]), SHEET, far.encode()), tmp_path)
    wide = XML.format(head + '<row r="2"><c r="ZZZ2"><v>1</v></c></row>')
    report = imported(shop, with_part(workbook([HEADER]), SHEET, wide.encode()), tmp_path, update=True)
    assert errors(report) == ["line 2: has a value in column ZZZ; at most 2,000 columns are read"]


def test_an_empty_workbook_and_one_with_a_password_are_refused(shop, tmp_path):
    with pytest.raises(UnreadableFile, match="The workbook is empty"):
        imported(shop, workbook([]), tmp_path)
    with pytest.raises(UnreadableFile, match="old or protected Excel workbook"):
        imported(shop, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", tmp_path)


def test_a_decimal_comma_of_texts_does_not_change_numbers(shop, tmp_path):
    rows = [HEADER, ["A", "Mug", 1, "9,50"], ["B", "Cup", 1, 1.234], ["C", "Jar", 1, "1.234"]]
    assert warnings(imported(shop, workbook(rows), tmp_path)) == []
    assert [str(each.price) for each in Product.objects.order_by("sku")] == ["9.50", "1.23", "1234.00"]

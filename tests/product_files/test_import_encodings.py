import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue.models import Product
from storefront.product_files.csv_reading import UnreadableFile
from tests.product_files.files import as_csv, errors, imported, woo

TEXTS = {
    "cp1250": "Piękny żółty kubek ze złotym uchem, łatwy w użyciu. Łyżka świeża",
    "cp1251": "Большая синяя кружка для утреннего кофе",
    "cp1252": "Schöner großer Becher für das Frühstück, weiß und grün",
    "cp1253": "Μεγάλη μπλε κούπα για τον πρωινό καφέ",
    "cp1254": "Güzel büyük kırmızı fincan, ince belli çay bardağı şık",
    "cp1255": "ספל כחול גדול לקפה של הבוקר",
    "koi8-r": "Большая синяя кружка для утреннего кофе",
    "iso8859-2": "Piękny żółty kubek ze złotym uchem, łatwy w użyciu. Łyżka świeża",
    "cp932": "青い大きなマグカップです",
    "gb18030": "蓝色的大杯子很漂亮",
    "cp949": "파란색 큰 머그컵입니다",
}


def notes(report) -> list[str]:
    return [problem.reason for problem in report.problems if problem.severity == "note"]


@pytest.mark.parametrize("encoding", TEXTS)
def test_encodings_are_told_apart_and_said(shop, tmp_path, encoding):
    text = TEXTS[encoding]
    report = imported(shop, as_csv([woo(name=text, description="plain")]).encode(encoding), tmp_path)
    assert (report.created, report.failed) == (1, 0)
    assert Product.objects.get(shop=shop).name == text
    (note,) = notes(report)
    assert note.startswith("Read as ")
    if encoding.startswith("cp125"):
        assert note.startswith(f"Read as windows-{encoding[2:]}. If texts look wrong, state the encoding.")


@pytest.mark.parametrize(
    "text",
    ["Théière élégante à la française, très légère", "Taza pequeña para niños", "Blå stor kopp för kaffe på morgonen",
     "Xícara ótima, não é?", "5 oz – don’t microwave™, €5"],
)  # fmt: skip
def test_western_files_stay_windows_1252(shop, tmp_path, text):
    report = imported(shop, as_csv([woo(name=text)]).encode("cp1252"), tmp_path)
    assert Product.objects.get(shop=shop).name == text
    assert notes(report) == ["Read as windows-1252. If texts look wrong, state the encoding."]


def test_utf_8_with_a_few_broken_bytes_stays_utf_8(shop, tmp_path):
    content = as_csv([woo(sku="A", name="Grüße aus Köln"), woo(sku="B", name="Br?ken")]).encode()
    report = imported(shop, content.replace(b"?", b"\xfc"), tmp_path)
    assert (report.created, report.failed, notes(report)) == (1, 1, [])
    assert errors(report) == ["line 3, Name: is not valid UTF-8 text"]
    assert Product.objects.get(shop=shop).name == "Grüße aus Köln"


def test_a_stated_encoding_is_used_and_not_said(shop, tmp_path):
    report = imported(shop, as_csv([woo(name="Grüße")]).encode("mac_roman"), tmp_path, encoding="mac-roman")
    assert (report.created, report.problems) == (1, [])
    assert Product.objects.get(shop=shop).name == "Grüße"


@pytest.mark.parametrize("name", ["klingon", "base64", "rot13", "\0", "x" * 300])
def test_an_unknown_encoding_is_refused(shop, tmp_path, name):
    with pytest.raises(UnreadableFile, match="Unknown encoding"):
        imported(shop, [woo()], tmp_path, encoding=name)


def test_a_wrong_stated_encoding_is_refused(shop, tmp_path):
    with pytest.raises(UnreadableFile, match=r"The file is not windows-1253 throughout\. Save it as CSV"):
        imported(shop, as_csv([woo(name="Grüße")]).encode(), tmp_path, encoding="cp1253")


def test_a_file_that_is_not_of_one_encoding_is_refused(shop, tmp_path):
    many = as_csv([woo(sku=str(n), name="Grüße aus Köln") for n in range(3000)]).encode("cp1252")
    with pytest.raises(UnreadableFile, match="The file is not windows-1252 throughout"):
        imported(shop, many + b"\x81\x8d\n", tmp_path)


@given(
    encoding=st.sampled_from(sorted(TEXTS)),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    start=st.integers(0, 10),
)
def test_any_encoding_separator_and_line_end(shop, tmp_path, encoding, separator, line_end, start):
    text = TEXTS[encoding]
    rows = [woo(sku="A", name=f'{text} {start}{separator} "x"', description=f"{text}\n{text}")]
    report = imported(shop, as_csv(rows, separator, line_end).encode(encoding), tmp_path, dry_run=True)
    assert (report.created, report.failed) == (1, 0)
    assert report.changes[0]["name"] == f'{text} {start}{separator} "x"'

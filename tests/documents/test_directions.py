"""Papers in Arabic and Hebrew: letters are joined and in order, pages are mirrored, and numbers stay as they are."""

import unicodedata
from io import BytesIO

import pytest
from pypdf import PdfReader

from storefront.documents.drawing import pdf_of
from storefront.documents.lettering import FONT, Lettering
from storefront.documents.models import Document
from tests.documents.factories import make_settings, paid_order, texts_of, work
from tests.documents.test_drawing import INVOICE, MUG, SELLER, SLIP, places_of
from tests.shops.factories import make_shop

BLUE_CUP = "كوب أزرق من الخزف"
ARABIC = INVOICE | {
    "language": "ar",
    "buyer": ["أحمد بن محمد"],
    "lines": [MUG | {"name": BLUE_CUP, "details": []}],
    "seller": SELLER | {"shop": "متجر الميناء"},
}
HEBREW = INVOICE | {"language": "he", "currency": "ILS", "buyer": ["דוד כהן"], "lines": [MUG | {"name": "ספל כחול"}]}


def text_of(record) -> str:
    """The text of the paper. Marks of direction are left out, and joined letters are read as letters."""
    (text,) = texts_of(pdf_of([record]))
    kept = "".join(each for each in text if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", kept)


@pytest.mark.parametrize("record", [ARABIC, HEBREW, INVOICE | {"buyer": ARABIC["buyer"], "lines": HEBREW["lines"]}])
def test_arabic_and_hebrew_are_printed(record):
    text = text_of(record)
    expected = f"{record['buyer'][0]} {record['lines'][0]['name']}".split()
    assert [each for each in expected if each not in text] == []
    assert "\ufffd" not in text


def test_the_papers_own_words_are_in_the_language():
    text = text_of(ARABIC)
    assert "فاتورة" in text
    assert "الكمية" in text
    assert "חשבונית" in text_of(HEBREW)


def test_numbers_and_money_stay_as_they_are():
    text = text_of(ARABIC | {"lines": [MUG | {"name": BLUE_CUP, "sku": "12-34"}]})
    for number in ("2026-00001", "1001", "19.00", "12-34", "DE123456789"):
        assert number in text, number
    assert text.count("2026-00001") == 2


def test_marks_of_direction_are_not_drawn():
    (page,) = texts_of(pdf_of([ARABIC]))
    assert "فاتورة" in page
    assert "\u200e" not in page


def test_the_page_is_mirrored():
    def place_of(record, text):
        (page,) = PdfReader(BytesIO(pdf_of([record]))).pages
        return next(x for x, _, part in places_of(page) if text in part)

    half = 595 / 2
    assert place_of(INVOICE, "Mug") < half < place_of(INVOICE, "19.00")
    assert place_of(ARABIC, "19.00") < half < place_of(ARABIC | {"lines": [MUG]}, "Mug")


def test_long_texts_are_broken_where_they_are_read():
    paper = Lettering(unit="mm", format="A4")
    paper.set_font(FONT, size=9)
    text = f"{BLUE_CUP} Mug (blue) " * 5 + "ك" * 200
    lines = paper.break_runs(text, 60)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(paper.width_of(line) <= 60 for line in lines)
    assert lines[0].startswith(BLUE_CUP)


def test_a_packing_slip_is_mirrored_too():
    assert "التعبئة" in text_of(SLIP | {"language": "ar"})


@pytest.mark.django_db
def test_an_order_in_arabic_has_an_arabic_invoice():
    shop = make_shop(further_languages=["ar"])
    make_settings(shop)
    order = paid_order(shop, language="ar")
    work()
    assert Document.objects.get(order=order).record["language"] == "ar"


def test_a_long_word_of_both_directions_is_broken_in_time(monkeypatch):
    """Shoppers type such words, and each measuring orders and shapes all letters of a part."""
    paper, measured, word = Lettering(), [], "a\u0627" * 400
    width_of = Lettering.width_of
    monkeypatch.setattr(Lettering, "width_of", lambda self, text: measured.append(len(text)) or width_of(self, text))
    paper.set_font(FONT, size=9)
    lines = paper.break_runs(word, 40)
    assert "".join(lines) == word
    assert 20 < len(lines) < 200
    assert all(width_of(paper, line) <= 40 for line in lines)
    assert sum(measured) < 12 * len(word)

"""The PDFs: everything of the record is on the page, in any alphabet, and nothing leaves the page."""

import re
from datetime import UTC, datetime
from io import BytesIO

import pytest
from pypdf import PdfReader

from storefront.documents.drawing import pdf_of
from tests.documents.factories import texts_of

SELLER = {
    "name": "Möller & Söhne GmbH",
    "shop": "Harbour Lane",
    "address": ["Am Kai 12", "20457 Hamburg"],
    "vat_id": "DE123456789",
    "registration": ["HRB 12345"],
    "bank": ["IBAN DE02 1203 0000 0000 2020 51"],
    "email": "hello@example.com",
}
MUG = {"name": "Mug", "sku": "M1", "details": ["Engraving: Ada"], "qty": 2, "unit_price": "9.50", "total": "19.00"}
INVOICE = {
    "kind": "invoice",
    "page": "a4",
    "number": "2026-00001",
    "issued_on": "2026-11-23",
    "order_number": 1001,
    "ordered_on": "2026-11-22",
    "currency": "EUR",
    "tax_included": True,
    "seller": SELLER,
    "replaces": "",
    "buyer": ["Ada Lovelace", "1 Example Street"],
    "ship_to": ["Charles Babbage", "2 Other Street"],
    "lines": [MUG],
    "subtotal": "19.00",
    "discounts": [{"name": "Autumn (AUTUMN5)", "amount": "5.00"}],
    "delivery": {"name": "Parcel", "amount": "4.90"},
    "taxes": [{"name": "VAT", "percent": "19", "amount": "3.02"}],
    "total": "18.90",
    "net": "15.88",
    "payments": [{"name": "Visa •••• 4242", "amount": "18.90"}],
    "footer": "Thank you for your order.",
}
CREDIT_NOTE = INVOICE | {
    "kind": "credit_note",
    "number": "CN-2026-00001",
    "invoice": {"number": "2026-00001", "issued_on": "2026-11-23"},
    "ship_to": [],
    "payments": [],
}
SLIP = {
    "kind": "packing_slip",
    "page": "letter",
    "number": "1001",
    "issued_on": "2026-11-23",
    "order_number": 1001,
    "ordered_on": "2026-11-22",
    "currency": "EUR",
    "tax_included": True,
    "seller": SELLER,
    "ship_to": ["Ada Lovelace"],
    "method": "Parcel",
    "phone": "+49 40 123",
    "note": "Please ring twice.",
    "is_cancelled": False,
    "lines": [MUG | {"ordered": 5}],
}


def places_of(page) -> list[tuple[float, float, str]]:
    """Where each text of the page begins, in points."""
    found = []
    page.extract_text(visitor_text=lambda text, _, tm, *rest: found.append((tm[4], tm[5], text)))
    return [each for each in found if each[2].strip()]


def test_an_invoice_says_all_that_it_has_to_say():
    (text,) = texts_of(pdf_of([INVOICE]))
    for part in (
        *("Invoice", "2026-00001", "23 Nov 2026", "1001", "22 Nov 2026", "Ada Lovelace", "Charles Babbage"),
        *("Mug", "SKU M1", "Engraving: Ada", "€9.50", "€19.00", "Autumn (AUTUMN5)", "-€5.00", "Delivery: Parcel"),
        *("€4.90", "Total", "€18.90", "Includes VAT 19%", "€3.02", "Net amount", "€15.88", "Paid: Visa •••• 4242"),
        *("Möller & Söhne GmbH", "VAT ID: DE123456789", "HRB 12345", "IBAN DE02", "Thank you for your order."),
        "Page 1 of 1",
    ):
        assert part in text, part


def test_tax_that_is_added_stands_above_the_total():
    (text,) = texts_of(pdf_of([INVOICE | {"tax_included": False}]))
    assert "Includes" not in text
    assert text.index("Net amount") < text.index("VAT 19%") < text.index("Total")


def test_a_credit_note_names_its_invoice():
    (text,) = texts_of(pdf_of([CREDIT_NOTE]))
    for part in ("Credit note", "CN-2026-00001", "For invoice", "2026-00001", "Total credited"):
        assert part in text, part


@pytest.mark.slow
def test_a_packing_slip_has_no_prices():
    (text,) = texts_of(pdf_of([SLIP]))
    for part in ("Packing slip", "Ada Lovelace", "+49 40 123", "Mug", "5", "To pack", "Please ring twice."):
        assert part in text, part
    assert "€" not in text
    (cancelled,) = texts_of(pdf_of([SLIP | {"is_cancelled": True}]))
    assert "Do not ship it." in cancelled


def test_the_same_record_is_the_same_file():
    first = pdf_of([INVOICE])
    assert first == pdf_of([INVOICE])
    info = PdfReader(BytesIO(first)).metadata
    assert (info.title, info.creation_date) == ("Invoice 2026-00001", datetime(2026, 11, 23, tzinfo=UTC))


@pytest.mark.parametrize(
    "name", ["Żaneta Grzegżółka", "Ελένη Παπαδοπούλου", "Щукіна Ґалаґан", "Đặng Thị Ngọc", "Åse Ærø Þór", "Şule Iğdır"]
)
@pytest.mark.slow
def test_names_are_printed_in_their_letters(name):
    (text,) = texts_of(pdf_of([INVOICE | {"buyer": [name], "lines": [MUG | {"name": name}]}]))
    assert text.count(name) == 2
    assert "cannot be printed" not in text


def test_letters_that_the_font_lacks_are_told():
    (text,) = texts_of(pdf_of([INVOICE | {"buyer": ["山田 Ltd"]}]))
    assert "\ufffd\ufffd Ltd" in text
    assert "cannot be printed here: U+5C71, U+7530" in text


def test_line_breaks_and_invisible_characters_do_not_reach_the_page():
    (text,) = texts_of(pdf_of([INVOICE | {"buyer": ["Ada\nLovelace\u202e\u0007"]}]))
    assert "Ada Lovelace\n" in text


@pytest.mark.slow
def test_many_lines_flow_over_pages_with_headers_and_carried_sums():
    lines = [MUG | {"name": f"Mug {i}", "total": "1.00"} for i in range(200)]
    pages = texts_of(pdf_of([INVOICE | {"lines": lines}]))
    assert len(pages) > 5
    whole = "\n".join(pages)
    assert all(f"Mug {i}\n" in whole or f"Mug {i} " in whole for i in range(200))
    carried = [re.search(r"Carried forward\s*(€[\d,.]+)", page) for page in pages[:-1]]
    brought = [re.search(r"Brought forward\s*(€[\d,.]+)", page) for page in pages[1:]]
    assert all(carried)
    assert [match[1] for match in carried] == [match[1] for match in brought]
    seen = 0
    for page, match in zip(pages, carried, strict=False):
        seen += len(re.findall(r"Mug \d+", page))
        assert match[1] == f"€{seen}.00"
    for i, page in enumerate(pages):
        assert "Description" in page or i == len(pages) - 1
        assert f"Page {i + 1} of {len(pages)}" in page


@pytest.mark.parametrize(
    "given",
    [
        {"buyer": ["W" * 200] * 8, "ship_to": ["x y " * 50] * 7},
        {"lines": [MUG | {"name": "W" * 1100}] * 3},
        {"lines": [MUG | {"name": "Mug " * 275, "details": ["Text: " + "long " * 900]}] * 4},
        {"lines": [MUG | {"details": [f"Option {i}: {'w' * 120}" for i in range(40)]}]},
        {"discounts": [{"name": f"Discount {i} " + "m" * 190, "amount": "1.00"} for i in range(30)]},
        {"footer": "\n".join(["W" * 120] * 8) + "\n" * 60, "payments": [{"name": "P" * 100, "amount": "1.00"}] * 20},
        {"lines": [MUG | {"unit_price": "999999999999.99", "total": "999999999999.99"}], "total": "999999999999.99"},
        {"seller": SELLER | {"registration": ["R" * 200] * 2, "bank": ["B" * 38] * 8, "shop": "S" * 200}},
        {"page": "letter", "lines": [MUG] * 60},
    ],
)
def test_no_text_leaves_the_page_or_runs_into_the_footer(given):
    reader = PdfReader(BytesIO(pdf_of([INVOICE | given])))
    for page in reader.pages:
        width, height = float(page.mediabox.width), float(page.mediabox.height)
        places = places_of(page)
        foot = max((y for _, y, text in places if "Möller" in text and y < height / 2), default=0)
        for x, y, text in places:
            assert 50 < x < width - 50, text
            assert 20 < y < height - 40, text
        body = [y for _, y, text in places if y > foot + 1]
        assert min(body, default=height) > foot + 5


@pytest.mark.slow
def test_several_documents_are_one_file_with_pages_of_their_own():
    long = INVOICE | {"number": "2026-00002", "lines": [MUG] * 60, "seller": SELLER | {"name": "Another Ltd"}}
    pages = texts_of(pdf_of([INVOICE, long, SLIP]))
    assert "Page 1 of 1" in pages[0]
    assert "Another Ltd" not in pages[0]
    assert f"Invoice 2026-00002 · Page 1 of {len(pages) - 2}" in pages[1]
    assert "Packing slip 1001 · Page 1 of 1" in pages[-1]
    sizes = [round(float(page.mediabox.width)) for page in PdfReader(BytesIO(pdf_of([INVOICE, SLIP]))).pages]
    assert sizes == [595, 612]

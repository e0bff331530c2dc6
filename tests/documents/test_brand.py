"""Papers wear the shop's looks: those at the time of issue, with what can be read of the logo."""

import re
from io import BytesIO

import pytest
from pypdf import PdfReader

from storefront.content.models import Looks
from storefront.documents import logo
from storefront.documents.drawing import pdf_of
from storefront.documents.queries import packing_slips
from tests.content.test_looks import make_looks, picture
from tests.documents.factories import issued, make_settings, paid_order, texts_of, work
from tests.shops.factories import NOW


@pytest.fixture
def looks(shop) -> Looks:
    logo._picture.cache_clear()
    return make_looks(shop, accent="#7a1f5c", fonts="lora", logo=picture())


def fonts_of(pdf: bytes) -> set[str]:
    page = PdfReader(BytesIO(pdf)).pages[0]
    return {str(font.get_object()["/BaseFont"]).partition("+")[2] for font in page["/Resources"]["/Font"].values()}


def pictures_of(pdf: bytes) -> int:
    return len(PdfReader(BytesIO(pdf)).pages[0].images)


def test_an_invoice_has_the_logo_the_fonts_and_the_accent_of_its_day(shop, other_shop, looks):
    make_settings(shop)
    order = paid_order(shop)
    work()
    (invoice,) = issued(order)
    drawn = pdf_of([invoice.record])
    assert pictures_of(drawn) == 1
    assert fonts_of(drawn) == {"PaperSerifBold", "PaperSansBold", "PaperSans"}
    assert invoice.record["brand"] == {"logo": looks.logo.name, "accent": "#7a1f5c", "fonts": "lora"}
    Looks.objects.filter(shop=shop).update(accent="#000000", fonts="figtree", logo="")
    invoice.refresh_from_db()
    assert pdf_of([invoice.record]) == drawn
    make_settings(other_shop)
    other = paid_order(other_shop)
    work()
    (theirs,) = issued(other)
    assert theirs.record["brand"]["logo"] == ""
    assert shop.name not in texts_of(pdf_of([theirs.record]))[0]


def test_a_paper_without_its_logos_file_has_the_name(shop, looks):
    looks.logo.storage.delete(looks.logo.name)
    (record,) = packing_slips(shop, [paid_order(shop)], NOW)
    drawn = pdf_of([record])
    assert pictures_of(drawn) == 0
    assert shop.name in texts_of(drawn)[0]


@pytest.mark.parametrize(("language", "is_left"), [("en", True), ("ar", False)])
def test_the_logo_stands_where_lines_begin(shop, looks, language, is_left):
    (record,) = packing_slips(shop, [paid_order(shop)], NOW)
    page = PdfReader(BytesIO(pdf_of([record | {"language": language}]))).pages[0]
    (x,) = re.findall(rb"[\d.]+ 0 0 [\d.]+ ([\d.]+) [\d.]+ cm\s+/I\d+ Do", page.get_contents().get_data())
    assert (float(x) < page.mediabox.width / 2) == is_left


def test_letters_that_the_fonts_lack_are_those_of_noto(shop, looks):
    order = paid_order(shop, shopper_note="Ελλάδα Привет")
    (record,) = packing_slips(shop, [order], NOW)
    drawn = pdf_of([record])
    assert "Ελλάδα Привет" in texts_of(drawn)[0]
    assert "NotoSans" in fonts_of(drawn)


def test_packing_slips_read_the_looks_once(shop, looks, django_assert_max_num_queries):
    orders = [paid_order(shop) for _ in range(4)]
    for order in orders:
        list(order.lines.all())
    with django_assert_max_num_queries(2 + len(orders)):
        packing_slips(shop, orders, NOW)

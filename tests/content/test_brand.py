"""Mails and papers wear the looks of their own shop, can always be read, and never fail for them."""

from decimal import Decimal

import pytest

from storefront.content import brand, colours
from storefront.content.brand import brand_of, paper_brand
from storefront.content.models import Looks
from storefront.orders import jobs
from storefront.orders.models import Order, OrderLine
from tests.content.every_mail import mails_of, make_order
from tests.content.test_looks import make_looks, picture
from tests.mails import html_of, words, words_of_text

ACCENT = "#7a1f5c"
GMAIL_CLIPS_AT = 102_000


@pytest.fixture
def looks(shop) -> Looks:
    return make_looks(shop, accent=ACCENT, fonts="lora", corners="square", logo=picture())


def test_each_mail_of_a_shop_has_its_logo_and_colours(shop, other_shop, looks):
    for name, message in mails_of(shop):
        html = html_of(message)
        assert f'<img src="{shop.base_url}{looks.logo.url}" alt="{shop.name}" width="40" height="20"' in html, name
        assert ACCENT in html, name
        assert "border-radius:0px" in html, name
        assert "Lora,Georgia" in html, name
    theirs = html_of(jobs.confirmation_mail(make_order(other_shop)))
    assert ACCENT not in theirs
    assert "<img" not in theirs


def test_a_mail_has_the_words_of_its_text_in_every_kind(shop, looks):
    for name, message in mails_of(shop):
        if not name.startswith("gift_card"):
            assert words(html_of(message)) == words_of_text(message), name


def test_text_on_the_accent_can_be_read_whatever_is_stored(shop):
    make_looks(shop, accent="#ffee00", background="#223344")
    worn = brand_of(shop)
    assert worn.background == Looks().background
    for ink, behind in ((worn.accent_ink, worn.accent), (worn.accent, "#ffffff"), (worn.accent, worn.soft)):
        assert colours._contrast(ink, behind) >= colours.MIN_CONTRAST
    assert colours._contrast(paper_brand(shop)["accent"], "#ffffff") >= colours.MIN_CONTRAST


def test_a_mail_without_its_logos_file_has_the_name(shop, looks):
    looks.logo.storage.delete(looks.logo.name)
    brand._size.cache_clear()
    html = html_of(jobs.confirmation_mail(make_order(shop)))
    assert "<img" not in html
    assert f">{shop.name}</a>" in html


def test_looks_take_one_query(shop, looks, django_assert_num_queries):
    with django_assert_num_queries(1):
        brand_of(shop)


@pytest.mark.parametrize("qty", [20, 200])
def test_no_order_is_too_large_for_gmail(shop, looks, qty, monkeypatch):
    """Gmail shows the beginning of larger mails only. An order without pictures for that keeps all of its words."""
    order = Order.objects.get(pk=make_order(shop).pk)
    name, chosen = "Handmade stoneware mug, number", [{"name": "Colour", "value": "Blue", "value_id": 1}]
    order.lines.all().delete()
    lines = [
        OrderLine(shop=shop, order=order, name=f"{name} {i}", qty=2, unit_price=Decimal("9"), line_total=Decimal("18"))
        for i in range(qty)
    ]
    for line in lines:
        line.options = chosen
    OrderLine.objects.bulk_create(lines)
    monkeypatch.setattr(jobs, "mail_picture", lambda shop, url: f"{shop.base_url}/media/{'p' * 90}.webp")
    message = jobs.confirmation_mail(order)
    html = html_of(message)
    assert len(html.encode()) < GMAIL_CLIPS_AT - 2_000
    assert words(html) == words_of_text(message)
    assert ("ppp.webp" in html) == (qty == 20)

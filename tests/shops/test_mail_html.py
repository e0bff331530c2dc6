"""Mails as HTML: the same words as the text, everything escaped, nothing loaded from elsewhere."""

import re
from html import unescape

import pytest
from django.template.loader import get_template

from storefront.shops import mail, mail_html
from storefront.shops.spoken import speaking
from tests.mails import html_of, words, words_of_text


def written(shop, text: str, **given):
    return mail.message(shop=shop, to="ada@example.com", subject="Hello", text=text, **given)


def test_both_forms_say_the_same(shop):
    text = "Dear <Ada> & Co.\n\nSubtotal: €1.00\nTotal: €2.00\n\n2 x Mug: €1.00\n    Colour: Gold\n\nSee https://example.com/.\n"
    message = written(shop, text, pictures={"Mug": "https://shop.example.com/media/mug.jpg"})
    assert words(html_of(message)) == words_of_text(message)


def test_texts_are_escaped(shop):
    shop.name = '<img src="https://evil.example/x">'
    text = '<script>alert(1)</script>\n\n2 x <b>Mug</b>\n\nA: "><img src=x>\nB: c'
    message = written(shop, text, pictures={"<b>Mug</b>": '"><i>'})
    html = html_of(message)
    for text in ("<script", "<b>", "<img src=x", 'evil.example/x">', '"><i>'):
        assert text not in html
    assert "&lt;script&gt;" in html


def test_only_the_shops_own_urls_and_named_ones_are_links(shop):
    own, named, typed = f"{shop.base_url}/orders/1?a=1&b=2", "https://dhl.example.com/1", "https://evil.example/win"
    html = html_of(written(shop, f"See {own}.\n\nTrack: {named}\nNote: {typed}", links=[named]))
    links = [unescape(url) for url in re.findall(r'<a href="([^"]+)"[^>]*class="link"', html)]
    assert links == [own, named]
    assert typed in html


@pytest.mark.parametrize("base", ["https://shop.example.com.evil.example/", "https://shop.example.com@evil.example/"])
def test_what_looks_like_the_shops_address_is_no_link(shop, base):
    shop.base_url = "https://shop.example.com"
    assert 'class="link"' not in html_of(written(shop, f"See {base}"))


def test_named_urls_behind_a_name_are_buttons(shop):
    first, second, typed = (f"{shop.base_url}/{name}" for name in ("first", "second", "typed"))
    text = f"Win: {typed}\n\nSee it: {first}\n\nDHL\nTrack it : {second}"
    message = written(shop, text, buttons=[first, second])
    html = html_of(message)
    assert re.findall(r'class="(button|outline)".*?<a href="([^"]+)".*?>([^<]+)</a>', html) == [
        ("button", first, "See it"),
        ("outline", second, "Track it"),
    ]
    assert f">{typed}</a>" in html
    assert words(html) == words_of_text(message)


def test_names_and_addresses_keep_their_own_direction(shop):
    shop.language = "ar"
    text = "2 x Mug: €1.00\n\nShip to:\nAda\n1 Sample Street"
    with speaking(shop, "ar"):
        html = html_of(written(shop, text, pictures={"Mug": ""}))
    assert 'dir="rtl"' in html
    for own in ('2 x <span dir="auto">Mug</span>', '<span dir="auto">1 Sample Street</span>'):
        assert own in html


def test_the_total_stands_below_a_rule(shop):
    message = written(shop, f"Subtotal: €1.00\n{mail_html.TOTAL_RULE}\nTotal: €2.00")
    html = html_of(message)
    assert html.index("Subtotal<") < html.index("border-top:2px") < html.index("Total<")
    assert "---" not in html


def test_a_page_to_unsubscribe_is_in_the_header(shop):
    page = f"{shop.base_url}/stop?a=1"
    assert written(shop, "Hello", unsubscribe=page).message()["List-Unsubscribe"] == f"<{page}>"
    assert written(shop, "Hello").message()["List-Unsubscribe"] is None


def test_the_list_of_mails_shows_the_first_paragraph(shop):
    html = html_of(written(shop, "Hello,\n\nYour <b>parcel</b>.\n\nYour code: 1234"))
    hidden = html[html.index("display:none") : html.index('role="main"')]
    assert "Your &lt;b&gt;parcel&lt;/b&gt;." in hidden
    assert "1234" not in hidden


def test_nothing_is_loaded_but_named_pictures(shop):
    html = html_of(written(shop, "1 x Mug", pictures={"Mug": "https://shop.example.com/media/mug.jpg"}))
    assert re.findall(r'src="([^"]+)"', html) == ["https://shop.example.com/media/mug.jpg"]
    for text in ("<link", "@import", "url(", "<script", "<iframe"):
        assert text not in html


def test_mails_say_that_a_program_wrote_them(shop):
    assert written(shop, "Hello").message()["Auto-Submitted"] == "auto-generated"
    assert mail.message(shop=None, to="a@b.example", subject="x", text="y").from_email.startswith("Storefront <")


def test_line_breaks_do_not_get_into_the_subject(shop):
    message = mail.message(shop=shop, to="a@b.example", subject="One\r\nBcc: two", text="y")
    assert message.subject == "One Bcc: two"
    assert message.message()["Bcc"] is None


def test_it_fits_dark_pages():
    assert "prefers-color-scheme: dark" in get_template("shops/mail/frame.html").template.source


@pytest.mark.parametrize("odd", ["http://[", "https://a\u2100b/", "http://[::1"])
def test_what_only_looks_like_a_url_is_text(shop, odd):
    html = mail_html.html_of(shop, name="Lighthouse", text=f"See {odd} there")
    assert "<a " not in html[html.index('class="content"') : html.index('class="foot')]
    assert odd in html

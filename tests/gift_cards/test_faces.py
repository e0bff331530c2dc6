"""A gift card in its mail, on its page and as PDF: who gives it, its message, its code as text and as QR code; and no
address that a server sees contains the code."""

import re
from decimal import Decimal
from email.mime.image import MIMEImage
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from storefront.gift_cards import faces
from storefront.gift_cards.erasing import erase_cards
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from tests.documents.factories import texts_of
from tests.gift_cards.factories import make_card, send_due
from tests.mails import html_of


@pytest.fixture
def client(shop) -> Client:
    return Client(headers={"host": shop.domain})


def test_the_mail_shows_the_card_with_its_qr_code(shop):
    given = {"email": "ben@example.com", "message": "Best\n<b>wishes</b>", "giver": "Ada <i>"}
    issue_card(shop=shop, value=Decimal("50.00"), now=clock.now(), **given)
    send_due()
    (message,) = mail.outbox
    code, html = re.search(r"Your code: (\S+)", message.body)[1], html_of(message)
    assert "\n\nBest\n<b>wishes</b>\n\nFrom Ada <i>\n\n" in message.body
    assert html.count(code) == 2  # On the card, and behind # in the button's address.
    for text in ("€50.00", "&lt;b&gt;wishes&lt;/b&gt;", "From Ada &lt;i&gt;", 'src="cid:qr@gift-card"'):
        assert html.count(text) >= 1, text
    assert html.count("wishes") == 1
    (image,) = message.attachments
    assert isinstance(image, MIMEImage)
    assert image["Content-ID"] == "<qr@gift-card>"
    hidden = html[html.index("display:none") : html.index('role="main"')]
    assert code not in hidden
    for url in re.findall(r'(?:href|src)="([^"]+)"', html):
        assert code not in urlsplit(url)._replace(fragment="").geturl()


def test_the_qr_code_leads_to_the_shops_page_with_the_code_behind_the_hash(shop, other_shop):
    address = faces.page_of(shop, "ABCDEFGHJKMNPQRSTVWX")
    assert address == f"{shop.base_url}/gift-card#ABCD-EFGH-JKMN-PQRS-TVWX"
    assert faces.qr_code(address).error == "M"
    assert faces.qr_picture(address).get_payload() != faces.qr_picture(faces.page_of(other_shop, "A")).get_payload()


def test_the_page_and_the_pdf_show_the_card_to_who_has_the_code(shop, other_shop, client, caplog):
    card, code = make_card(shop, message="Happy birthday", giver="Ada")
    answer = client.post("/gift-card", {"gift_card": code})
    page = answer.content.decode()
    for text in ("€50.00", "Happy birthday", "From Ada", code, "<svg"):
        assert text in page
    assert "no-store" in answer["Cache-Control"]
    answer = client.post("/gift-card", {"gift_card": code, "pdf": "1"})
    assert answer["Content-Type"] == "application/pdf"
    assert "no-store" in answer["Cache-Control"]
    text = " ".join(texts_of(answer.content))
    for part in ("€50.00", "Happy birthday", "From Ada", code):
        assert part in text
    theirs = Client(headers={"host": other_shop.domain})
    assert theirs.post("/gift-card", {"gift_card": code, "pdf": "1"}).status_code == 422
    GiftCard.objects.filter(pk=card.pk).update(disabled_at=clock.now())
    answer = client.post("/gift-card", {"gift_card": code, "pdf": "1"})
    assert answer["Content-Type"].startswith("text/html")
    assert "Happy birthday" not in answer.content.decode()
    assert code not in caplog.text


def test_a_long_message_has_its_place_below_the_card(shop, client):
    message = "\n".join(f"Line {i} {'ü' * 30}" for i in range(12))
    _, code = make_card(shop, message=message)
    text = " ".join(texts_of(client.post("/gift-card", {"gift_card": code, "pdf": "1"}).content))
    assert "Line 11" in text


def test_who_gives_it_is_erased_with_the_message(shop, other_shop):
    card, _ = make_card(shop, email="ben@example.com", message="Hi", giver="Ada")
    theirs, _ = make_card(other_shop, email="ben@example.com", message="Hi", giver="Ada")
    erase_cards(shop=shop, email="ben@example.com", cards=[card.pk], orders=[])
    card.refresh_from_db()
    theirs.refresh_from_db()
    assert (card.giver, theirs.giver) == ("", "Ada")

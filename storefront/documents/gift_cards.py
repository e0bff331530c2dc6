"""Draws a gift card as PDF, to print and to give away. It is drawn when its holder asks for it, and is not stored."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from storefront.content.brand import paper_brand
from storefront.documents.links import pdf_file
from storefront.documents.logo import logo_of
from storefront.documents.records import LETTER
from storefront.gift_cards.faces import face_of, page_of, qr_code
from storefront.gift_cards.models import GiftCard
from storefront.shops.languages import language_of_texts
from storefront.shops.spoken import speaking, spoken_language

# Millimetres: the card, its margins, the band at its top, the QR code.
WIDTH, HEIGHT, INNER, BAND, QR = 150.0, 95.0, 9.0, 4.0, 34.0


def gift_card_response(card: GiftCard, code: str, now: datetime) -> HttpResponse:
    """The card as a PDF, in the language that is spoken."""
    language = language_of_texts(spoken_language(card.shop) or get_language() or "en")
    with speaking(card.shop, language):
        return pdf_file(_pdf_of(card, code, now), "gift-card.pdf")


def _pdf_of(card: GiftCard, code: str, now: datetime) -> bytes:
    from storefront.documents.paper import FOOT, MARGIN, SMALL, TOP, Paper

    shop, face, brand = card.shop, face_of(card, code), paper_brand(card.shop)
    page = page_of(shop, code)
    paper: Any = Paper()
    paper.begin_plain("letter" if shop.country in LETTER else "a4", brand)
    left, top = MARGIN, TOP
    paper.set_draw_color(*paper.accent)
    paper.set_line_width(0.4)
    paper.rect(paper.mirrored(left, WIDTH), top, WIDTH, HEIGHT)
    paper.set_fill_color(*paper.accent)
    paper.rect(paper.mirrored(left, WIDTH), top, WIDTH, BAND, style="F")
    x, right = left + INNER, left + WIDTH - INNER - QR - 6
    width = right - x
    paper.set_y(top + BAND + 6)
    if logo := logo_of({"brand": brand}):
        paper.draw_logo(logo, width=60, height=13, x=x)
    else:
        paper.write_lines([shop.name], x=x, width=width, size=14, is_heading=True)
    paper.ln(3)
    paper.write_lines([_("Gift card")], x=x, width=width, size=10, is_grey=True)
    paper.write_lines([face["amount"]], x=x, width=width, size=30, is_heading=True)
    paper.ln(1)
    lines = [each for text in face["lines"] for each in paper.lines_of(text, width - 2, 9)]
    rest = lines[6:]
    paper.write_lines(lines[:5] + ([f"{lines[5]}…"] if rest else lines[5:6]), x=x, width=width, size=9)
    paper.write_lines([face["giver"]], x=x, width=width, size=9, is_grey=True)
    paper.set_y(top + HEIGHT - 17)
    paper.write_lines([face["code_label"]], x=x, width=width, size=SMALL, is_grey=True)
    paper.write_lines([face["code"]], x=x, width=WIDTH - 2 * INNER, size=13, is_bold=True)
    _draw_qr(paper, qr_code(page).matrix, paper.mirrored(left + WIDTH - INNER - QR, QR), top + BAND + 7)
    paper.set_y(top + HEIGHT + 5)
    use = _("Enter the code when you pay at %(shop)s. What you do not spend stays on the card.")
    paper.write_lines([use % {"shop": shop.base_url.partition("//")[2]}, face["until"]], width=WIDTH, size=9)
    if rest:
        paper.ln(3)
        paper.write_lines(face["lines"], width=WIDTH, size=9)
    paper.write_lines([_("Anyone who has the code can spend the card.")], width=WIDTH, size=FOOT, is_grey=True)
    paper.set_title(_("Gift card"))
    paper.set_author(shop.name)
    paper.set_lang(language_of_texts(spoken_language(shop) or "en"))
    paper.set_creation_date(now)
    return bytes(paper.output())


def _draw_qr(paper: Any, matrix: Any, x: float, y: float) -> None:
    side = QR / len(matrix)
    paper.set_fill_color(0, 0, 0)
    for row, modules in enumerate(matrix):
        for column, is_dark in enumerate(modules):
            if is_dark:
                # Slightly larger, so that no light lines show between modules.
                paper.rect(x + column * side, y + row * side, side * 1.02, side * 1.02, style="F")

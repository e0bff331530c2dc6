"""Mails gift cards: a sweep queues what is due, and a task makes the code and sends it."""

from datetime import datetime

from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django_tasks import task

from storefront.content.brand import brand_of
from storefront.content.mail_words import Words, write_mail
from storefront.gift_cards import faces
from storefront.gift_cards.codes import new_code_of
from storefront.gift_cards.ledger import Kind
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.pods.moves import NOT_MOVING
from storefront.shops import mail
from storefront.shops.languages import direction
from storefront.shops.mail_html import mail_fonts
from storefront.shops.spoken import speaking, spoken_language


def queue_due_cards(*, now: datetime, limit: int) -> int:
    """Queue the mails that are due. Returns how many. With two workers at once, each mail is queued once."""
    due = GiftCard.objects.filter(NOT_MOVING, send_at__lte=now, disabled_at=None).order_by("send_at", "pk")
    return sum(_queue(card) for card in due[:limit])


@task(queue_name=MAILS)
def send_gift_card(shop_id: int, card_id: int, tries: int = 0) -> None:
    """Mail the card with a new code, unless it was disabled or its recipient erased meanwhile. Retried later if the
    mail server does not respond. The code exists only here and in the mail."""
    card = GiftCard.objects.select_related("shop").get(shop=shop_id, pk=card_id)
    if not card.email:
        return
    made = new_code_of(shop=card.shop, card=card, kind=Kind.SENT, now=clock.now())
    if made is None:
        return
    if mail.send(gift_card_mail(*made), shop_id, card_id, what="gift_card", task=send_gift_card, tries=tries):
        GiftCard.objects.filter(shop=card.shop, pk=card.pk).update(sent_at=clock.now())


def gift_card_mail(card: GiftCard, code: str, words: Words | None = None) -> EmailMessage:
    """The mail to the card's recipient, with a picture of the card. Its QR code is a picture within the mail: at an
    address of its own, it would bring the code into logs."""
    shop, brand = card.shop, brand_of(card.shop)
    with speaking(shop, card.language):
        page, face = faces.page_of(shop, code), faces.face_of(card, code)
        image = faces.qr_picture(page)
        context = {"card": card, "page": page, **face}
        end = "left" if direction(spoken_language(shop)) == "rtl" else "right"
        shown = {"brand": brand, "cid": image["Content-ID"].strip("<>"), "shop": shop, "end": end, **face}
        message = write_mail(
            "gift_card",
            shop=shop,
            to=card.email,
            values={"amount": face["amount"]},
            context=context,
            words=words,
            buttons=[page],
            picture=render_to_string("gift_cards/mail_picture.html", shown | mail_fonts(brand)),
            in_picture=[line for line in (*face["lines"], face["giver"], face["code_line"], face["until"]) if line],
        )
    message.attach(image)
    return message


@transaction.atomic
def _queue(card: GiftCard) -> bool:
    is_claimed = GiftCard.objects.filter(pk=card.pk, send_at=card.send_at).update(send_at=None)
    if is_claimed:
        send_gift_card.enqueue(card.shop_id, card.pk)
    return bool(is_claimed)

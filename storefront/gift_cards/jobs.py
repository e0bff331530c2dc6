"""Mails gift cards: a sweep queues what is due, and a task makes the code and sends it."""

from datetime import datetime

from django.core.mail import EmailMessage
from django.db import transaction
from django_tasks import task

from storefront.content.mail_words import Words, write_mail
from storefront.gift_cards import codes
from storefront.gift_cards.codes import new_code_of
from storefront.gift_cards.ledger import Kind
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.kit.format import format_money, format_time
from storefront.kit.queues import MAILS
from storefront.pods.moves import NOT_MOVING
from storefront.shops import mail
from storefront.shops.places import page_address
from storefront.shops.spoken import speaking


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
    """The mail to the card's recipient, as plain text."""
    shop = card.shop
    with speaking(shop, card.language):
        url, amount = page_address("checkout:gift_card", shop=shop), format_money(card.balance, card.currency)
        context = {
            "card": card,
            "code": codes.for_people(code),
            "amount": amount,
            "expires": format_time(card.expires_at, shop.timezone),
            "url": url,
        }
        values = {"amount": amount}
        return write_mail("gift_card", shop=shop, to=card.email, values=values, context=context, words=words)


@transaction.atomic
def _queue(card: GiftCard) -> bool:
    is_claimed = GiftCard.objects.filter(pk=card.pk, send_at=card.send_at).update(send_at=None)
    if is_claimed:
        send_gift_card.enqueue(card.shop_id, card.pk)
    return bool(is_claimed)

"""Creates the codes of cards. A code is returned once, for a mail or for staff; only its digest is stored."""

from datetime import datetime

from django.db import transaction

from storefront import audit
from storefront.gift_cards import codes
from storefront.gift_cards.ledger import Kind, write_entry
from storefront.gift_cards.models import GiftCard
from storefront.kit.money import ZERO
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop


class GiftCardNotSendable(Refusal):
    code = "gift_card_not_sendable"
    message = "A disabled gift card cannot be sent. Enable it first."


@transaction.atomic
def new_code_of(*, shop: Shop, card: GiftCard, kind: Kind, now: datetime) -> tuple[GiftCard, str] | None:
    """Give the card a new code, which invalidates the previous one. Returns the card and the code; None for a disabled
    card."""
    rows = GiftCard.objects.filter(shop=shop, pk=card.pk)
    locked = rows.select_for_update(of=("self",), no_key=True).get()
    if locked.disabled_at is not None:
        return None
    code = codes.new_code()
    rows.update(digest=codes.digest(shop, code), last_four=code[-4:])
    return write_entry(rows, kind, ZERO, now, detail=f"…{code[-4:]}"), code


@transaction.atomic
def show_code(*, shop: Shop, card: GiftCard, now: datetime) -> str:
    """Create a new code that staff see once and pass on. Raises GiftCardNotSendable."""
    made = new_code_of(shop=shop, card=card, kind=Kind.SHOWN, now=now)
    if made is None:
        raise GiftCardNotSendable
    audit.record(shop=shop, action="gift_card.code_shown", object=card, now=now)
    return made[1]

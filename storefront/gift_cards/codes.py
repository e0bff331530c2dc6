"""Creates, compares and formats the codes of gift cards.

A code has 97 random bits. Its digest includes the shop, so the same code has another digest in another shop.
"""

import re
import secrets
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.gift_cards.ledger import Kind, write_entry
from storefront.gift_cards.models import GiftCard
from storefront.kit import tokens
from storefront.kit.codes import typed_code
from storefront.kit.money import ZERO
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop

# Characters that are not mistaken for each other.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 20
_FORM = re.compile(rf"[{_ALPHABET}]{{{_LENGTH}}}\Z")
_SEPARATORS = re.compile(r"[ \-\u2010\u2011\u2013]+")


def new_code() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def normal_code(text: str) -> str:
    """Normalise a code for comparison: capitals, no white space, no hyphens."""
    return _SEPARATORS.sub("", typed_code(text))


def is_well_formed(code: str) -> bool:
    """Returns False if the normalised text cannot be a code, which saves a database query."""
    return _FORM.match(code) is not None


def digest(shop: Shop, code: str) -> str:
    """The digest of a normalised code; only this is stored."""
    return tokens.digest(f"{shop.pk}:{code}")


def for_people(code: str) -> str:
    """Format the code in groups of four, as `K7QM-…`."""
    return "-".join(code[i : i + 4] for i in range(0, len(code), 4))


class GiftCardNotSendable(Refusal):
    code = "gift_card_not_sendable"
    message = _lazy("A disabled gift card cannot be sent. Enable it first.")


@transaction.atomic
def new_code_of(*, shop: Shop, card: GiftCard, kind: Kind, now: datetime) -> tuple[GiftCard, str] | None:
    """Give the card a new code, which invalidates the previous one. Returns the card and the code; None for a disabled
    card."""
    rows = GiftCard.objects.filter(shop=shop, pk=card.pk)
    locked = rows.select_for_update(of=("self",), no_key=True).get()
    if locked.disabled_at is not None:
        return None
    code = new_code()
    rows.update(digest=digest(shop, code), last_four=code[-4:])
    return write_entry(rows, kind, ZERO, now, detail=f"…{code[-4:]}"), code


@transaction.atomic
def show_code(*, shop: Shop, card: GiftCard, now: datetime) -> str:
    """Create a new code that staff see once and pass on. Raises GiftCardNotSendable."""
    made = new_code_of(shop=shop, card=card, kind=Kind.SHOWN, now=now)
    if made is None:
        raise GiftCardNotSendable
    audit.record(shop=shop, action="gift_card.code_shown", object=card, now=now)
    return made[1]

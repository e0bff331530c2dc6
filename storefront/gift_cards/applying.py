"""Calculates what the gift cards of a basket pay, or why they do not. Writes nothing: `ledger.spend` takes the money
when the shopper pays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from storefront.gift_cards import codes
from storefront.gift_cards.ledger import held_by
from storefront.gift_cards.models import GiftCard
from storefront.kit.money import ZERO
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop

UNKNOWN = "gift_card_unknown"
DISABLED = "gift_card_disabled"
EXPIRED = "gift_card_expired"
USED_UP = "gift_card_used_up"
OTHER_CURRENCY = "gift_card_other_currency"
NOT_NEEDED = "gift_card_not_needed"

# Messages for shoppers, by reason.
MESSAGES = {
    UNKNOWN: _("This gift card code is not valid."),
    DISABLED: _("This gift card is no longer valid."),
    EXPIRED: _("This gift card has expired."),
    USED_UP: _("This gift card has been used up."),
    OTHER_CURRENCY: _("This gift card is in another currency."),
    NOT_NEEDED: _("There is nothing left for it to pay. Gift cards cannot pay for gift cards."),
}


class UnknownGiftCard(Refusal):
    code, message = UNKNOWN, MESSAGES[UNKNOWN]


@dataclass(frozen=True, slots=True)
class AppliedCard:
    """A gift card's share in paying a basket. `refused` is the reason why it pays nothing: empty, or one of the reasons
    above. `spared` is how much less it pays than it could, so that the amount left is not too small for a payment
    method."""

    id: int
    last_four: str
    amount: Decimal
    refused: str = ""
    spared: Decimal = ZERO

    @property
    def message(self) -> str:
        return str(MESSAGES[self.refused]) if self.refused else ""


def card_of_code(shop: Shop, code: str) -> GiftCard:
    """The shop's card with this code, as somebody typed it. Raises UnknownGiftCard, also for another shop's."""
    normal = codes.normal_code(code)
    known = GiftCard.objects.filter(shop=shop, digest=codes.digest(shop, normal))
    card = known.first() if codes.is_well_formed(normal) else None
    if card is None:
        raise UnknownGiftCard
    return card


def applied_cards(
    *, shop: Shop, ids: Sequence[int], payable: Decimal, cart_id: int | None, now: datetime
) -> tuple[AppliedCard, ...]:
    """Let these cards pay `payable` in their order, each as much as it can."""
    found = {card.pk: card for card in GiftCard.objects.filter(shop=shop, pk__in=ids)} if ids else {}
    held = held_by(shop, cart_id) if found else {}
    applied = []
    for card in (found[id] for id in ids if id in found):
        balance = card.balance + held.get(card.pk, ZERO)
        refused = refusal_of(card, balance, shop, now) or ("" if payable else NOT_NEEDED)
        amount = ZERO if refused else min(balance, payable)
        payable -= amount
        applied.append(AppliedCard(card.pk, card.last_four, amount, refused))
    return tuple(applied)


def spare(cards: Sequence[AppliedCard], amount: Decimal) -> tuple[AppliedCard, ...]:
    """Reduce what the cards pay by this amount in all, beginning with the last card."""
    spared = []
    for card in reversed(cards):
        less = min(card.amount, amount)
        amount -= less
        spared.append(replace(card, amount=card.amount - less, spared=card.spared + less))
    return tuple(reversed(spared))


def refusal_of(card: GiftCard, balance: Decimal, shop: Shop, now: datetime) -> str:
    """The reason why the card cannot pay for any basket; empty if it can."""
    if card.disabled_at is not None:
        return DISABLED
    if card.has_expired(now):
        return EXPIRED
    if card.currency != shop.currency:
        return OTHER_CURRENCY
    return "" if balance else USED_UP

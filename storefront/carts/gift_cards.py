"""Adds and removes the gift cards that a cart is paid with. The room `gift_cards` calculates what they pay."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from storefront.carts import entered
from storefront.carts.actions import Changed, Precondition
from storefront.carts.models import Cart
from storefront.carts.rules import MAX_GIFT_CARDS
from storefront.gift_cards.applying import MESSAGES, UNKNOWN, UnknownGiftCard, card_of_code, refusal_of
from storefront.gift_cards.ledger import held_by
from storefront.gift_cards.models import GiftCard
from storefront.kit.money import ZERO
from storefront.kit.refusals import Problem, Refusal, problem
from storefront.shops.models import Shop


class GiftCardsRefused(Refusal):
    """Some of the codes are unknown, or their cards can no longer be used. `problems` names each by its position."""

    code, message = "gift_cards_refused", _("One of the gift cards cannot be used.")

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0]["message"], problems=problems)

    @property
    def positions(self) -> list[str]:
        """The fields of the codes that the shop does not have."""
        return [each["field"] for each in self.problems or () if each["code"] == UNKNOWN]


class TooManyGiftCards(Refusal):
    code = "too_many_gift_cards"
    message = format_lazy(_("A basket can be paid with at most {most} gift cards."), most=MAX_GIFT_CARDS)


def set_gift_cards(
    *,
    shop: Shop,
    now: datetime,
    codes: Sequence[str],
    token: str | None = None,
    cart: Cart | None = None,
    precondition: Precondition | None = None,
) -> Changed:
    """Replace the gift cards of the cart; without a usable token, of a new cart (R-CART-46). Raises
    GiftCardsRefused."""
    cart_of: Any = {"token": token, "cart": cart, "precondition": precondition}
    return entered.replace("gift_cards", _checked_cards(shop, codes, None, now), shop=shop, now=now, **cart_of)


def add_gift_card(*, shop: Shop, cart: Cart, code: str, now: datetime) -> None:
    """Pay the shopper's basket with this card, too. Raises GiftCardsRefused and TooManyGiftCards."""
    [card_id] = _checked_cards(shop, [code], cart, now)
    entered.add("gift_cards", card_id, shop=shop, cart=cart, most=MAX_GIFT_CARDS, too_many=TooManyGiftCards, now=now)


def _checked_cards(shop: Shop, codes: Sequence[str], cart: Cart | None, now: datetime) -> list[int]:
    """The ids of these cards, each once. Raises GiftCardsRefused."""
    held = held_by(shop, cart.pk if cart else None)
    ids, problems = [], []
    for position, code in enumerate(codes):
        try:
            card: GiftCard = card_of_code(shop, code)
            refused = refusal_of(card, card.balance + held.get(card.pk, ZERO), shop, now)
            ids.append(card.pk)
        except UnknownGiftCard:
            refused = UNKNOWN
        if refused:
            problems.append(problem(f"codes.{position}", refused, MESSAGES[refused]))
    if problems:
        raise GiftCardsRefused(problems)
    return list(dict.fromkeys(ids))

"""Erases a person from gift cards. The cards keep their balance, which the shop owes (docs/privacy.md)."""

from collections.abc import Collection

from django.db.models import Q, QuerySet

from storefront.gift_cards.models import GiftCard
from storefront.shops.models import Shop


def cards_of(shop: Shop, email: str, orders: Collection[int]) -> QuerySet[GiftCard]:
    """The cards that were sent to this address, and those that these orders sold."""
    return GiftCard.objects.filter(Q(email__iexact=email) | Q(order_id__in=orders), shop=shop)


def to_be_sent(cards: QuerySet[GiftCard]) -> QuerySet[GiftCard]:
    """The cards among these whose mail is not due yet."""
    return cards.filter(send_at__isnull=False, disabled_at=None)


def erase_cards(*, shop: Shop, email: str, cards: Collection[int], orders: Collection[int]) -> list[int]:
    """Erase this address from the `cards` that have it, and the messages of cards that these orders sold. The address
    of another recipient stays. Returns the ids of the order lines that sold the cards of this address."""
    GiftCard.objects.filter(shop=shop, order_id__in=orders).update(message="", giver="")
    held = GiftCard.objects.filter(shop=shop, pk__in=cards, email__iexact=email)
    lines = [pk for pk in held.values_list("line_id", flat=True) if pk is not None]
    held.update(email="", message="", giver="", send_at=None)
    return lines

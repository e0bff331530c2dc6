"""Compares gift cards with their log."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Sum

from storefront.gift_cards.models import GiftCard
from storefront.kit.deviations import Deviation, differing
from storefront.kit.money import ZERO
from storefront.shops.models import Shop

BATCH_ROWS = 2000


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's cards whose balance differs from the sum of their log."""
    cards: Any = GiftCard.objects.filter(shop=shop).order_by("pk").annotate(logged=Sum("entries__amount"))
    for card in cards.iterator(chunk_size=BATCH_ROWS):
        yield from differing("gift card log", f"gift card {card.pk}", card.balance, card.logged or ZERO)

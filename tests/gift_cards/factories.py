from decimal import Decimal
from typing import Any

from django_tasks_db.models import DBTaskResult

from storefront.gift_cards import codes
from storefront.gift_cards.codes import show_code
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.jobs import queue_due_cards, send_gift_card
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.shops.models import Shop


def make_card(shop: Shop, value: str = "50.00", **given: Any) -> tuple[GiftCard, str]:
    """A card that can be used, and its code as people read it."""
    now = clock.now()
    card = issue_card(shop=shop, value=Decimal(value), now=now, **given)
    code = show_code(shop=shop, card=card, now=now)
    card.refresh_from_db()
    return card, codes.for_people(code)


def balance(card: GiftCard) -> Decimal:
    return GiftCard.objects.values_list("balance", flat=True).get(pk=card.pk)


def send_due(now=None) -> None:
    """What the worker does until all mails are sent that are due."""
    queue_due_cards(now=now or clock.now(), limit=100)
    for row in DBTaskResult.objects.filter(task_path__endswith="send_gift_card"):
        send_gift_card.func(*row.args_kwargs["args"])
        row.delete()

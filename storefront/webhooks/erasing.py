"""Erases a person from events. An event stays with only the id of its object, as apps without its scope get it."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from storefront.shops.models import Shop
from storefront.webhooks.models import Attempt, Event

BATCH_ROWS = 500


def erase_events(*, shop: Shop, email: str, customer_id: int | None, orders: Collection[int], before: datetime) -> int:
    """Erase events that were recorded about this customer, these orders, and checkouts with this address `before`, with
    the answers of receivers. Returns how many. Pending deliveries of these events send only the id, too. Events that
    show the order without its customer stay."""
    shows_person = Q(data__has_key="email") & ~Q(data__email="")
    about = Q(topic__startswith="order.", data__id__in=list(orders)) & shows_person
    about |= Q(topic="refund.failed", data__order_id__in=list(orders))
    about |= Q(topic="checkout.abandoned", data__email__iexact=email, created_at__lt=before)
    if customer_id is not None:
        about |= Q(topic__in=["customer.created", "customer.updated"], data__id=customer_id)
    ids = list(Event.objects.filter(about, shop=shop).values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_ROWS):
        rows = list(Event.objects.filter(pk__in=ids[start : start + BATCH_ROWS]))
        for row in rows:
            row.data = {"id": row.data.get("id")}
        Event.objects.bulk_update(rows, ["data"])
        Attempt.objects.filter(shop=shop, delivery__event__in=rows).update(answer="")
    return len(ids)

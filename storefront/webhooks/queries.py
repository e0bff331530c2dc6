from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from storefront.kit.clock import offset_timestamp, timestamp
from storefront.shops.models import Shop
from storefront.webhooks.messages import event_record
from storefront.webhooks.models import Attempt, Delivery, Event, Feed, Registration


def webhook_records(shop: Shop) -> list[dict[str, Any]]:
    """What every app of the shop has registered, in the order in which they did."""
    return [webhook_record(row) for row in Registration.objects.filter(shop=shop).order_by("created_at", "id")]


def webhook_record(registration: Registration) -> dict[str, Any]:
    created_at = offset_timestamp(registration.created_at)
    return {"topic": registration.topic, "address": registration.address, "created_at": created_at}


@dataclass(frozen=True)
class FeedPage:
    """Events in the order of the feed. `next_after` is where to go on: past all that there is, if this was the end."""

    events: list[dict[str, Any]]
    next_after: int


def feed(shop: Shop, *, after: int, topic: str | None, limit: int, scopes: Collection[str]) -> FeedPage:
    """The shop's events after this number, as somebody with these scopes may see them."""
    # Asked first, so that no event that comes meanwhile is passed over.
    last = Feed.objects.filter(shop=shop).values_list("last_sequence", flat=True).first() or 0
    rows = Event.objects.filter(shop=shop, sequence__gt=after, sequence__lte=last)
    if topic:
        rows = rows.filter(topic=topic)
    records = [
        event_record(event, shop_domain=shop.domain, scopes=scopes) for event in rows.order_by("sequence")[:limit]
    ]
    return FeedPage(records, records[-1]["sequence"] if len(records) == limit else max(after, last))


def delivery_page(
    shop: Shop, *, installation_id: int, status: str | None, topic: str | None, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """The installation's deliveries, newest first, with their tries; and before which id the next page begins."""
    rows = Delivery.objects.filter(shop=shop, installation=installation_id).order_by("-id")
    chosen = {"status": status, "topic": topic, "id__lt": before}
    rows = rows.filter(**{name: value for name, value in chosen.items() if value is not None})
    found = list(_with_all(rows)[: limit + 1])
    return [delivery_record(row) for row in found[:limit]], found[limit - 1].pk if len(found) > limit else None


def delivery_of(shop: Shop, *, installation_id: int, delivery_id: int) -> Delivery | None:
    """One of the installation's own, with its event and its tries."""
    return _with_all(Delivery.objects.filter(shop=shop, installation=installation_id, pk=delivery_id)).first()


def _with_all(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.defer("sealed_message").select_related("event", "registration").prefetch_related("attempts")


def delivery_record(row: Delivery) -> dict[str, Any]:
    """A delivery as its app sees it. What was sent is not part of it: the feed tells that by today's scopes."""
    return {
        "id": row.pk,
        "webhook_id": str(row.message_id),
        "topic": row.topic,
        "sequence": row.event.sequence if row.event else None,
        "address": address_of(row),
        "status": row.status,
        "tries": row.tries,
        "next_try_at": timestamp(row.due_at) if row.status == Delivery.Status.PENDING else None,
        "created_at": timestamp(row.created_at),
        "ended_at": timestamp(row.ended_at),
        "attempts": [attempt_record(each) for each in sorted(row.attempts.all(), key=lambda each: each.number)],
    }


def address_of(delivery: Delivery) -> str:
    """Where it goes: while its webhook stands, wherever that leads now."""
    return delivery.registration.address if delivery.registration else delivery.address


def attempt_record(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "started_at": timestamp(attempt.started_at),
        "duration_ms": attempt.duration_ms,
        "status": attempt.status,
        "error": attempt.error or None,
        "answer": attempt.answer,
    }


def paused_webhooks(shop: Shop) -> QuerySet[Registration]:
    """Those to which nothing is sent until somebody resumes them."""
    return Registration.objects.filter(shop=shop, is_active=False).select_related("installation__app").order_by("id")

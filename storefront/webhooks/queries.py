from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet

from storefront.kit.api.records import writer
from storefront.kit.clock import offset_timestamp, timestamp
from storefront.kit.ids import as_id
from storefront.shops.models import Shop
from storefront.webhooks import schemas
from storefront.webhooks.messages import event_record
from storefront.webhooks.models import Delivery, Event, Feed, Registration


def webhook_records(shop: Shop, *, installation_id: int) -> list[dict[str, Any]]:
    """The installation's webhooks as JSON, oldest first (R-APP-11)."""
    own = Registration.objects.filter(shop=shop, installation=installation_id)
    return [webhook_record(row) for row in own.order_by("created_at", "id")]


def own_webhooks(shop: Shop, *, installation_id: int, key: str) -> QuerySet[Registration]:
    """The installation's webhook with this topic or id, in a query that finds nothing if there is none."""
    named = Q(topic=key) if as_id(key) is None else Q(pk=as_id(key))
    return Registration.objects.filter(named, shop=shop, installation=installation_id)


# The members of R-HOOK-4.
webhook_record = writer(
    schemas.Webhook,
    created_at=lambda registration: offset_timestamp(registration.created_at),
    state=lambda registration: "active" if registration.is_active else "paused",
    paused_reason=lambda registration: registration.pause_reason or None,
)


@dataclass(frozen=True)
class FeedPage:
    """Events in the order of the feed, and `after` for the next call; on the last page, the end of the feed."""

    events: list[dict[str, Any]]
    next_after: int


def feed(
    shop: Shop, *, installation_id: int, scopes: Collection[str], after: int, topic: str | None, limit: int
) -> FeedPage:
    """The shop's events after this number, with the data that the installation may read with these scopes
    (R-HOOK-18)."""
    # Read before the events, so that `next_after` skips no event that is dispatched meanwhile.
    last = Feed.objects.filter(shop=shop).values_list("last_sequence", flat=True).first() or 0
    rows = Event.objects.filter(shop=shop, sequence__gt=after, sequence__lte=last)
    if topic:
        rows = rows.filter(topic=topic)
    records = [
        event_record(event, shop_domain=shop.domain, scopes=scopes, installation_id=installation_id)
        for event in rows.order_by("sequence")[:limit]
    ]
    return FeedPage(records, records[-1]["sequence"] if len(records) == limit else max(after, last))


def delivery_page(
    shop: Shop, *, installation_id: int, status: str | None, topic: str | None, before: int | None, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """The installation's deliveries as JSON, newest first (R-HOOK-16), and `before` for the next page; None on the last
    one."""
    rows = Delivery.objects.filter(shop=shop, installation=installation_id).order_by("-id")
    filters = {"status": status, "topic": topic, "id__lt": before}
    rows = rows.filter(**{name: value for name, value in filters.items() if value is not None})
    found = list(_with_related(rows)[: limit + 1])
    return [delivery_record(row) for row in found[:limit]], found[limit - 1].pk if len(found) > limit else None


def get_delivery(shop: Shop, *, installation_id: int, delivery_id: int) -> Delivery | None:
    """One of the installation's deliveries, with its event and its attempts; None if it has none with this id."""
    return _with_related(Delivery.objects.filter(shop=shop, installation=installation_id, pk=delivery_id)).first()


def _with_related(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.defer("sealed_message").select_related("event", "registration").prefetch_related("attempts")


def current_address(delivery: Delivery) -> str:
    """The address of the delivery's webhook, or the delivery's own if the webhook was deleted."""
    return delivery.registration.address if delivery.registration else delivery.address


attempt_record = writer(schemas.Attempt, error=lambda attempt: attempt.error or None)
# Without the message: apps read that in the feed, as their scopes permit now.
delivery_record = writer(
    schemas.Delivery,
    webhook_id=lambda row: str(row.message_id),
    test=lambda row: row.kind == Delivery.Kind.TEST,
    sequence=lambda row: row.event.sequence if row.event else None,
    address=current_address,
    next_try_at=lambda row: timestamp(row.due_at) if row.status == Delivery.Status.PENDING else None,
    attempts=lambda row: [attempt_record(each) for each in sorted(row.attempts.all(), key=attrgetter("number"))],
)


def paused_webhooks(shop: Shop) -> QuerySet[Registration]:
    """The shop's webhooks that receive nothing until they are resumed."""
    return Registration.objects.filter(shop=shop, is_active=False).select_related("installation__app").order_by("id")

"""Replays one delivery or a range of the feed (R-HOOK-17).

A replay sends the same message with the same id, to the app's current webhook for the topic. Its retry schedule starts
from the beginning.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.installations.app_tokens import lock_installation
from storefront.kit.refusals import NotFound, Refusal
from storefront.shops.models import Shop
from storefront.webhooks.models import Delivery, Event, Registration
from storefront.webhooks.topics import OWN_TOPICS

# Maximum of events that one call replays.
MAX_REPLAYED = 1000


class NotReplayable(Refusal):
    code, field = "not_replayable", "delivery"
    message = _lazy("Only deliveries of events can be replayed.")


class NotRegistered(Refusal):
    code, message, field = (
        "not_registered",
        _lazy("The app no longer has a webhook for this topic."),
        "topic",
    )


@dataclass(frozen=True)
class Replayed:
    """The number of replayed deliveries, and the sequence to continue after; None if the range has no more events."""

    count: int
    next_after: int | None


@transaction.atomic
def replay_delivery(*, shop: Shop, installation_id: int, delivery_id: int, now: datetime) -> Delivery:
    """Send this delivery again now. One that is pending becomes due now. Returns the delivery that is sent.

    Raises NotFound, NotReplayable, NotRegistered, and Unauthenticated if the app was uninstalled.
    """
    lock_installation(shop=shop, installation_id=installation_id)
    own = Delivery.objects.filter(shop=shop, installation=installation_id).select_related("event")
    row = own.filter(pk=delivery_id).first()
    if row is None:
        raise NotFound
    if row.kind != Delivery.Kind.EVENT or row.event_id is None or row.event is None:
        raise NotReplayable
    registration = Registration.objects.filter(shop=shop, installation=installation_id, topic=row.topic).first()
    if registration is None:
        raise NotRegistered
    _send_again([row.event_id], registration, now)
    after = {"delivery": row.pk, "topic": row.topic, "deliveries": 1}
    audit.record(shop=shop, action="webhook.replayed", object=registration, after=after, now=now)
    return Delivery.objects.get(event=row.event_id, registration=registration)


@transaction.atomic
def replay_range(
    *,
    shop: Shop,
    installation_id: int,
    now: datetime,
    topic: str | None = None,
    after: int | None = None,
    before: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Replayed:
    """Send the events for which the app has a webhook, also those from before it was registered. `after` and `before`
    are sequence numbers, both exclusive; `since` is inclusive, `until` exclusive."""
    lock_installation(shop=shop, installation_id=installation_id)
    own = Registration.objects.filter(shop=shop, installation=installation_id)
    # Events about apps are sent only to the app itself, when they happen (R-HOOK-21).
    own = own.filter(topic=topic) if topic else own
    registrations = {row.topic: row for row in own if row.topic not in OWN_TOPICS}
    bounds = {"sequence__gt": after or 0, "sequence__lt": before, "created_at__gte": since, "created_at__lt": until}
    filters = {name: value for name, value in bounds.items() if value is not None}
    found = Event.objects.filter(shop=shop, topic__in=registrations, **filters).order_by("sequence")
    events = list(found.values_list("id", "topic", "sequence")[: MAX_REPLAYED + 1])
    count = 0
    for name, registration in registrations.items():
        count += _send_again([pk for pk, of, _ in events[:MAX_REPLAYED] if of == name], registration, now)
    if count:
        app, details = audit.Object("app", installation_id), {"topics": sorted(registrations), "deliveries": count}
        audit.record(shop=shop, action="webhook.replayed", object=app, after=details, now=now)
    return Replayed(count, events[MAX_REPLAYED - 1][2] if len(events) > MAX_REPLAYED else None)


def _send_again(events: list[int], registration: Registration, now: datetime) -> int:
    """Send these events to this webhook, except those whose delivery is pending already. Returns how many are sent."""
    own = Delivery.objects.filter(event__in=events, registration=registration)
    existing = {row.event_id: row for row in own.select_for_update().order_by("id")}
    ended = [row.pk for row in existing.values() if row.ended_at is not None]
    Delivery.objects.filter(pk__in=ended).update(
        status=Delivery.Status.PENDING,
        earlier_tries=F("tries"),
        due_at=now,
        ended_at=None,
        receiver=registration.receiver,
        address=registration.address,
    )
    Delivery.objects.filter(pk__in=[row.pk for row in existing.values()], lease=None, status="pending").update(
        due_at=now
    )
    new = Event.objects.filter(pk__in=set(events) - existing.keys())
    created = Delivery.objects.bulk_create(
        [_delivery(event, registration, now) for event in new], ignore_conflicts=True
    )
    return len(ended) + len(created)


def _delivery(event: Event, registration: Registration, now: datetime) -> Delivery:
    return Delivery(
        shop_id=event.shop_id,
        installation_id=registration.installation_id,
        registration=registration,
        event=event,
        message_id=event.public_id,
        topic=event.topic,
        address=registration.address,
        receiver=registration.receiver,
        due_at=now,
        created_at=now,
    )

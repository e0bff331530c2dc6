"""Sending again what has ended: one delivery, or a range of the feed.

A replay is the same message under the same id, tried by the schedule from its beginning. It goes to whatever the app
has registered for the topic now.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from storefront.kit.refusals import NotFound, Refusal
from storefront.shops.app_tokens import hold_installation
from storefront.shops.models import Shop
from storefront.webhooks.models import Delivery, Event, Registration
from storefront.webhooks.topics import UNINSTALLED

# Events that one call replays at most.
MOST = 1000


class NotReplayable(Refusal):
    code, field = "not_replayable", "delivery"
    message = "Only deliveries of events can be replayed."


class NotRegistered(Refusal):
    code, message, field = "not_registered", "The app has no webhook for this topic any more.", "topic"


@dataclass(frozen=True)
class Replayed:
    """How many deliveries are on their way again; and, where the range holds more events, after which to go on."""

    count: int
    next_after: int | None


@transaction.atomic
def replay_delivery(*, shop: Shop, installation_id: int, delivery_id: int, now: datetime) -> Delivery:
    """Send this again, at once: the delivery that does so. One that is still tried is due at once.

    Raises NotFound, NotReplayable, NotRegistered, and Unauthenticated where the app was uninstalled.
    """
    hold_installation(shop=shop, installation_id=installation_id)
    row = Delivery.objects.filter(shop=shop, installation=installation_id, pk=delivery_id).first()
    if row is None:
        raise NotFound
    if row.kind != Delivery.Kind.EVENT or row.event_id is None:
        raise NotReplayable
    registration = Registration.objects.filter(shop=shop, installation=installation_id, topic=row.topic).first()
    if registration is None:
        raise NotRegistered
    _send_again([row.event_id], registration, now)
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
    """Send again the events that the app has a webhook for: numbered after and before these, which are left out, and
    written down since this moment and until before that. Also what happened before the app registered."""
    hold_installation(shop=shop, installation_id=installation_id)
    own = Registration.objects.filter(shop=shop, installation=installation_id)
    # Each app hears of its own uninstall alone (dispatch.py).
    own = own.filter(topic=topic) if topic else own
    registrations = {row.topic: row for row in own if row.topic != UNINSTALLED}
    bounds = {"sequence__gt": after or 0, "sequence__lt": before, "created_at__gte": since, "created_at__lt": until}
    given = {name: value for name, value in bounds.items() if value is not None}
    found = Event.objects.filter(shop=shop, topic__in=registrations, **given).order_by("sequence")
    events = list(found.values_list("id", "topic", "sequence")[: MOST + 1])
    count = 0
    for name, registration in registrations.items():
        count += _send_again([pk for pk, of, _ in events[:MOST] if of == name], registration, now)
    return Replayed(count, events[MOST - 1][2] if len(events) > MOST else None)


def _send_again(events: list[int], registration: Registration, now: datetime) -> int:
    """Have these sent to this webhook, those that are not on their way already: how many that were."""
    own = Delivery.objects.filter(event__in=events, registration=registration)
    known = {row.event_id: row for row in own.select_for_update().order_by("id")}
    ended = [row.pk for row in known.values() if row.ended_at is not None]
    Delivery.objects.filter(pk__in=ended).update(
        status=Delivery.Status.PENDING,
        earlier_tries=F("tries"),
        due_at=now,
        ended_at=None,
        receiver=registration.receiver,
        address=registration.address,
    )
    Delivery.objects.filter(pk__in=[row.pk for row in known.values()], lease=None, status="pending").update(due_at=now)
    new = Event.objects.filter(pk__in=set(events) - known.keys())
    made = Delivery.objects.bulk_create([_delivery(event, registration, now) for event in new], ignore_conflicts=True)
    return len(ended) + len(made)


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

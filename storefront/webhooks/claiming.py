"""How workers share out deliveries: each is leased to one worker, sent, and then marked with how it went (marking.py).

A lease ends by itself, so a worker that was killed loses nothing: another tries what it had. A delivery that is leased
is due when the lease ends; so one condition finds both what is to be tried and what was left behind.

Who needs registrations and deliveries locks them in this order, and each kind by id.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from storefront.webhooks.messages import Message, Secrets, message_of
from storefront.webhooks.models import Delivery, Registration

# Longer than a call may take and the wait before it, so that no two workers try one delivery at once.
LEASE = timedelta(seconds=20)
# Receivers that are looked at in one claim; the next one goes on with those after them.
MOST_RECEIVERS = 1000
# Held deliveries that one call releases.
BATCH = 1000

# Three looks at indexes which hold only what is left to do.
_WORK = """
    SELECT EXISTS (SELECT 1 FROM webhooks_event WHERE sequence IS NULL),
        EXISTS (SELECT 1 FROM webhooks_delivery WHERE status = 'pending' AND due_at <= %(now)s),
        EXISTS (SELECT 1 FROM webhooks_registration WHERE holds AND is_active)
"""
# One look at the index for each receiver, however many deliveries wait for it.
_DUE = """
    WITH RECURSIVE waiting (receiver, place) AS (
        SELECT min(receiver), 1 FROM webhooks_delivery WHERE status = 'pending' AND receiver > %(after)s
        UNION ALL
        SELECT (
            SELECT min(receiver) FROM webhooks_delivery WHERE status = 'pending' AND receiver > waiting.receiver
        ), waiting.place + 1
        FROM waiting WHERE waiting.receiver IS NOT NULL AND waiting.place < %(most)s
    )
    SELECT receiver, EXISTS (
        SELECT 1 FROM webhooks_delivery delivery WHERE delivery.status = 'pending'
        AND delivery.receiver = waiting.receiver AND delivery.due_at <= %(now)s
    ) FROM waiting WHERE receiver IS NOT NULL
"""
_CLAIM = """
    UPDATE webhooks_delivery SET lease = %(lease)s, due_at = %(until)s WHERE id IN (
        SELECT id FROM webhooks_delivery WHERE status = 'pending' AND receiver = %(receiver)s AND due_at <= %(now)s
        ORDER BY due_at LIMIT %(most)s
    ) RETURNING id
"""
# The same for many receivers in one go.
_CLAIM_ON_POSTGRESQL = """
    UPDATE webhooks_delivery SET lease = %(lease)s, due_at = %(until)s WHERE id IN (
        SELECT found.id FROM json_each_text(%(shares)s) share, LATERAL (
            SELECT id FROM webhooks_delivery WHERE status = 'pending' AND receiver = share.key::bigint
            AND due_at <= %(now)s ORDER BY due_at LIMIT share.value::int FOR UPDATE SKIP LOCKED
        ) found
    ) RETURNING id
"""


def work(now: datetime) -> tuple[bool, bool, bool]:
    """Whether events wait to be dispatched, deliveries to be tried, and held ones to be released."""
    with connection.cursor() as cursor:
        cursor.execute(_WORK, {"now": _moment(now)})
        events, due, held = cursor.fetchone()
    return bool(events), bool(due), bool(held)


def due_receivers(now: datetime, *, after: int = -1) -> tuple[list[int], int]:
    """Receivers that something is due for, among the next MOST_RECEIVERS that wait for anything, and where to go on
    after them: -1 begins anew."""
    with connection.cursor() as cursor:
        cursor.execute(_DUE, {"after": after, "most": MOST_RECEIVERS, "now": _moment(now)})
        found = cursor.fetchall()
    last = found[-1][0] if len(found) == MOST_RECEIVERS else -1
    return [receiver for receiver, is_due in found if is_due], last


def claim(shares: Mapping[int, int], *, lease: str, now: datetime) -> list[Message]:
    """Lease what is due, of each receiver at most its share, oldest first. What belongs to a paused webhook is held
    until that is resumed."""
    if not shares:
        return []
    with transaction.atomic():
        ids = _leased(shares, lease=lease, now=now)
    deliveries = Delivery.objects.filter(pk__in=ids).select_related("event").order_by("id")
    messages, paused, early, secrets = [], [], [], Secrets(now)
    for delivery in deliveries.prefetch_related("registration", "shop", "installation__app"):
        if delivery.registration_id and not (delivery.registration and delivery.registration.is_active):
            paused.append(delivery)
        elif delivery.event and delivery.event.sequence is None:
            early.append(delivery.pk)
        else:
            messages.append(message_of(delivery, secrets))
    if early:
        # Told together with its event, which another worker is about to dispatch.
        give_back(early, lease=lease, now=now)
    if paused:
        _hold(paused, lease=lease, now=now)
    return messages


def _leased(shares: Mapping[int, int], *, lease: str, now: datetime) -> list[int]:
    given = {"lease": lease, "until": _moment(now + LEASE), "now": _moment(now)}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_CLAIM_ON_POSTGRESQL, given | {"shares": json.dumps(shares)})
            return [row[0] for row in cursor.fetchall()]
        found = []
        for receiver, most in shares.items():
            cursor.execute(_CLAIM, given | {"receiver": receiver, "most": most})
            found += [row[0] for row in cursor.fetchall()]
        return found


@transaction.atomic
def _hold(deliveries: list[Delivery], *, lease: str, now: datetime) -> None:
    """Put those aside whose webhook is still paused, so that no claim meets them again; the rest is due again."""
    wanted = {delivery.registration_id for delivery in deliveries if delivery.registration_id}
    rows = Registration.objects.select_for_update().filter(pk__in=wanted).order_by("id")
    active = {row.pk: row.is_active for row in rows}
    Registration.objects.filter(pk__in=active, is_active=False, holds=False).update(holds=True)
    for status, chosen in (
        (Delivery.Status.HELD, {pk for pk, is_active in active.items() if not is_active}),
        (Delivery.Status.PENDING, {pk for pk, is_active in active.items() if is_active}),
        (Delivery.Status.CANCELLED, wanted - active.keys()),
    ):
        ids = [delivery.pk for delivery in deliveries if delivery.registration_id in chosen]
        if ids:
            ended_at = now if status == Delivery.Status.CANCELLED else None
            _own(ids, lease).update(status=status, lease=None, due_at=now, ended_at=ended_at)


def release_held(now: datetime) -> int:
    """Make due again what was held for webhooks that are active by now, a batch of each: how many deliveries."""
    resumed = Registration.objects.filter(holds=True, is_active=True).order_by("id").values_list("id", flat=True)
    return sum(_release(pk, now) for pk in resumed[:BATCH])


@transaction.atomic
def _release(registration_id: int, now: datetime) -> int:
    # Locked, so that nothing is held for it between the look and the mark that nothing is.
    rows = Registration.objects.select_for_update().filter(pk=registration_id, is_active=True)
    if not rows.first():
        return 0
    held = Delivery.objects.filter(registration=registration_id, status=Delivery.Status.HELD)
    ids = list(held.order_by("id").values_list("id", flat=True)[:BATCH])
    Delivery.objects.filter(pk__in=ids).update(status=Delivery.Status.PENDING, due_at=now)
    if len(ids) < BATCH:
        rows.update(holds=False)
    return len(ids)


def give_back(ids: list[int], *, lease: str, now: datetime) -> None:
    """Let another worker try these at once."""
    _own(ids, lease).update(lease=None, due_at=now)


def _own(ids: list[int], lease: str) -> QuerySet[Delivery]:
    """Of these deliveries those that this worker still has: their lease may have ended, or they were cancelled."""
    return Delivery.objects.filter(pk__in=ids, lease=lease, status=Delivery.Status.PENDING)


def _moment(now: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(now)

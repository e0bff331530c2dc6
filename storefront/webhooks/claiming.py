"""Leases due deliveries to workers: each delivery is leased to one worker, which sends it and records the result
(`recording.py`).

A lease expires by itself, so deliveries of a killed worker are sent by another one. While a delivery is leased, its
`due_at` is the end of the lease, so one condition finds both due deliveries and those whose lease has expired.

Lock order: registrations before deliveries, each by id.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import connection, transaction
from django.db.models import QuerySet

from storefront.kit import sealing
from storefront.webhooks.dialect import dialect
from storefront.webhooks.messages import Message, SecretCache, message_of
from storefront.webhooks.models import Delivery, Registration

log = structlog.get_logger(__name__)

# Longer than the longest call and the wait before it, so that no two workers send one delivery at the same time.
LEASE = timedelta(seconds=20)
# Receivers that one call of `due_receivers` reads; the next call continues after them.
MAX_RECEIVERS = 1000
# Time until the next attempt for a delivery whose secret cannot be decrypted.
KEY_WAIT = timedelta(minutes=5)
# Registrations, and held deliveries of each, that one call of `release_held` releases.
BATCH_ROWS = 1000

# Three lookups in partial indexes, which contain only unfinished rows.
_WORK = """
    SELECT EXISTS (SELECT 1 FROM webhooks_event WHERE sequence IS NULL),
        EXISTS (SELECT 1 FROM webhooks_delivery WHERE status = 'pending' AND due_at <= %(now)s),
        EXISTS (SELECT 1 FROM webhooks_registration WHERE holds AND is_active)
"""
# One index lookup for each receiver, however many deliveries it has.
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


def find_work(now: datetime) -> tuple[bool, bool, bool]:
    """Returns three flags: events to dispatch, due deliveries, held deliveries to release."""
    with connection.cursor() as cursor:
        cursor.execute(_WORK, {"now": _to_db_time(now)})
        events, due, held = cursor.fetchone()
    return bool(events), bool(due), bool(held)


def due_receivers(now: datetime, *, after: int = -1) -> tuple[list[int], int]:
    """Receivers with due deliveries, among the next MAX_RECEIVERS with pending ones after `after`; and the `after` of
    the next call, which is -1 at the end: start again."""
    with connection.cursor() as cursor:
        cursor.execute(_DUE, {"after": after, "most": MAX_RECEIVERS, "now": _to_db_time(now)})
        found = cursor.fetchall()
    last = found[-1][0] if len(found) == MAX_RECEIVERS else -1
    return [receiver for receiver, is_due in found if is_due], last


def claim(slots: Mapping[int, int], *, lease: str, now: datetime) -> list[Message]:
    """Lease due deliveries, oldest first, and return their messages. `slots` is the maximum for each receiver.

    Deliveries of a paused webhook are held until it is resumed; those that cannot be signed wait for KEY_WAIT.
    """
    if not slots:
        return []
    params = {"lease": lease, "until": _to_db_time(now + LEASE), "now": _to_db_time(now)}
    with transaction.atomic():
        ids = dialect.lease_due(slots, params)
    deliveries = Delivery.objects.filter(pk__in=ids).select_related("event").order_by("id")
    messages, paused, undispatched, unsignable, gone, secrets = [], [], [], [], [], SecretCache(now)
    for delivery in deliveries.prefetch_related("registration", "shop", "installation__app"):
        if delivery.registration_id and not (delivery.registration and delivery.registration.is_active):
            paused.append(delivery)
        elif delivery.event_id and not delivery.event:
            gone.append(delivery.pk)
        elif delivery.event and delivery.event.sequence is None:
            undispatched.append(delivery.pk)
        else:
            try:
                messages.append(message_of(delivery, secrets))
            except sealing.Unsealable:
                unsignable.append(delivery)
    if undispatched:
        # An uninstall creates a delivery with its event; the event has no sequence number until it is dispatched.
        release_leases(undispatched, lease=lease, now=now)
    if gone:
        # The event was too old, and was dropped while somebody replayed it.
        _leased_by(gone, lease).update(status=Delivery.Status.CANCELLED, lease=None, due_at=now, ended_at=now)
    if paused:
        _hold_paused(paused, lease=lease, now=now)
    if unsignable:
        _postpone_until_key(unsignable, lease=lease, now=now)
    return messages


@transaction.atomic
def _hold_paused(deliveries: list[Delivery], *, lease: str, now: datetime) -> None:
    """Hold deliveries whose webhook is still paused, so that no claim reads them again. Those of a webhook that was
    resumed meanwhile are due again; those of a deleted one are cancelled."""
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
            _leased_by(ids, lease).update(status=status, lease=None, due_at=now, ended_at=ended_at)


def _postpone_until_key(deliveries: list[Delivery], *, lease: str, now: datetime) -> None:
    """Postpone deliveries that cannot be signed, without counting an attempt, until the operator restores the key or
    the secret is replaced. Other due deliveries of the same receivers wait too, so that no claim reads each of them."""
    installations = sorted({delivery.installation_id for delivery in deliveries})
    log.error("webhooks_cannot_be_signed", installations=installations, again_in_seconds=KEY_WAIT.total_seconds())
    _leased_by([delivery.pk for delivery in deliveries], lease).update(lease=None, due_at=now + KEY_WAIT)
    for delivery in {(each.installation_id, each.kind): each for each in deliveries}.values():
        same = {"receiver": delivery.receiver, "installation": delivery.installation_id, "kind": delivery.kind}
        due = Delivery.objects.filter(**same, status=Delivery.Status.PENDING, due_at__lte=now)
        ids = list(due.order_by("due_at").values_list("id", flat=True)[:BATCH_ROWS])
        Delivery.objects.filter(pk__in=sorted(ids), status=Delivery.Status.PENDING, due_at__lte=now).update(
            due_at=now + KEY_WAIT
        )


def release_held(now: datetime) -> int:
    """Make held deliveries of resumed webhooks due again, up to BATCH_ROWS of each webhook. Returns how many."""
    resumed = Registration.objects.filter(holds=True, is_active=True).order_by("id").values_list("id", flat=True)
    return sum(_release_held_of(pk, now) for pk in resumed[:BATCH_ROWS])


@transaction.atomic
def _release_held_of(registration_id: int, now: datetime) -> int:
    # Locked, so that no delivery becomes held between the query and `holds=False`.
    rows = Registration.objects.select_for_update().filter(pk=registration_id, is_active=True)
    if not rows.first():
        return 0
    held = Delivery.objects.filter(registration=registration_id, status=Delivery.Status.HELD)
    ids = list(held.order_by("id").values_list("id", flat=True)[:BATCH_ROWS])
    Delivery.objects.filter(pk__in=ids).update(status=Delivery.Status.PENDING, due_at=now)
    if len(ids) < BATCH_ROWS:
        rows.update(holds=False)
    return len(ids)


def release_leases(ids: list[int], *, lease: str, now: datetime) -> None:
    """Make these deliveries due now, for any worker."""
    _leased_by(ids, lease).update(lease=None, due_at=now)


def _leased_by(ids: list[int], lease: str) -> QuerySet[Delivery]:
    """The deliveries among these that this worker still leases: not expired, not cancelled."""
    return Delivery.objects.filter(pk__in=ids, lease=lease, status=Delivery.Status.PENDING)


def _to_db_time(now: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(now)

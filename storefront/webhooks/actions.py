from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import orjson
from django.db import connection, transaction

from storefront import audit
from storefront.installations.app_tokens import lock_installation
from storefront.installations.models import Installation
from storefront.kit.addresses import BadAddress, check_url
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.kit.sql import Columns, fetch
from storefront.shops.models import Shop
from storefront.webhooks import queries
from storefront.webhooks.messages import seal
from storefront.webhooks.models import Delivery, Event, Registration
from storefront.webhooks.rules import receiver_of
from storefront.webhooks.samples import sample_event
from storefront.webhooks.topics import TOPICS

# Rows that one statement updates.
BATCH_ROWS = 1000
_EVENT = Columns(Event, without=["id", "sequence"])
UNENDED = [Delivery.Status.PENDING, Delivery.Status.HELD]


def record_event(*, shop: Shop, topic: str, data: dict[str, Any], now: datetime) -> Event:
    """Record an event. Call it as the last step of the transaction that changes the data: then the events of two
    writers of one row have the same order as their changes."""
    (event,) = _insert([Event(shop=shop, topic=topic, data=data, created_at=now)])
    return event


def record_events(*, shop: Shop, events: Iterable[tuple[str, dict[str, Any]]], now: datetime) -> None:
    """Record several events in a statement for each `BATCH_ROWS`. `events` are pairs of topic and data, in order."""
    rows = [Event(shop=shop, topic=topic, data=data, created_at=now) for topic, data in events]
    for start in range(0, len(rows), BATCH_ROWS):
        _insert(rows[start : start + BATCH_ROWS])


def insertion_of(query: str) -> str:
    """The statement that records an event for each row of this query, in their order: shop_id, topic, data and
    created_at. For PostgreSQL, where it can be part of the statement that makes the change."""
    columns = "shop_id, topic, data, created_at"
    return (
        f"INSERT INTO webhooks_event (public_id, {columns})"  # noqa: S608, its callers build the query from names
        f" SELECT gen_random_uuid(), happened.* FROM ({query}) happened ({columns})"
    )


def _insert(events: list[Event]) -> list[Event]:
    """Hand-written, since each sale waits for it."""
    given: dict[str, Any] = {}
    for number, event in enumerate(events):
        given |= _EVENT.values(connection, event, f"r{number}_")
    statement = f"{_EVENT.insertions(len(events))} RETURNING id"
    for event, (pk,) in zip(events, fetch(connection, statement, given, prepared=len(events) == 1), strict=True):
        event.pk = pk
    return events


@transaction.atomic
def register_webhook(
    *, shop: Shop, installation_id: int, topic: str, address: str, now: datetime
) -> tuple[Registration, bool]:
    """Send events of the topic to the address (R-HOOK-2). Returns the registration, and True if it is new.

    An existing registration of the topic gets the new address and is active again (R-HOOK-3); its held deliveries go
    there.
    Raises InvalidFields, and Unauthenticated if the app was uninstalled meanwhile.
    """
    _validate(topic, address)
    lock_installation(shop=shop, installation_id=installation_id)
    registration, created = Registration.objects.select_for_update().get_or_create(
        installation_id=installation_id,
        topic=topic,
        defaults={
            "shop": shop,
            "address": address,
            "receiver": receiver_of(installation_id, address),
            "created_at": now,
            "updated_at": now,
        },
    )
    if created:
        audit.record(
            shop=shop, action="webhook.registered", object=registration, after=_audit_fields(registration), now=now
        )
    else:
        _change(registration, "webhook.registered", address=address, resume=True, now=now)
    return registration, created


def _validate(topic: str, address: str) -> None:
    errors = {}
    if topic not in TOPICS:
        errors["topic"] = [f"Unknown. Known: {', '.join(TOPICS)}."]
    try:
        check_url(address)
    except BadAddress as bad:
        errors["address"] = [str(bad)]
    if errors:
        raise InvalidFields(errors=errors)


@transaction.atomic
def change_webhook(
    *, shop: Shop, installation_id: int, key: str, address: str | None = None, resume: bool = False, now: datetime
) -> Registration:
    """Change the address of the installation's webhook with this topic or id, or resume it, or both (R-HOOK-27). A new
    address alone does not resume a paused webhook.

    Raises InvalidFields, NotFound, and Unauthenticated if the app was uninstalled meanwhile.
    """
    lock_installation(shop=shop, installation_id=installation_id)
    row = queries.own_webhooks(shop, installation_id=installation_id, key=key).select_for_update().first()
    if row is None:
        raise NotFound
    _validate(row.topic, row.address if address is None else address)
    _change(row, "webhook.updated", address=address, resume=resume, now=now)
    return row


@transaction.atomic
def resume_webhook(*, shop: Shop, registration: Registration, now: datetime) -> None:
    """Make a paused registration active again; its held deliveries are sent. Raises NotFound if it was deleted."""
    row = Registration.objects.select_for_update().filter(shop=shop, pk=registration.pk).first()
    if row is None:
        raise NotFound
    _change(row, "webhook.resumed", resume=True, now=now)


def _change(row: Registration, action: str, *, address: str | None = None, resume: bool, now: datetime) -> None:
    """Store and record the change of a locked registration. Without one, does nothing."""
    before = _audit_fields(row)
    if address is not None and address != row.address:
        # The failures were those of the old address.
        row.address, row.receiver, row.failing_since = address, receiver_of(row.installation_id, address), None
    if resume and not row.is_active:
        row.is_active, row.failing_since, row.paused_at, row.pause_reason = True, None, None, ""
    after = _audit_fields(row)
    if after == before:
        return
    row.updated_at = now
    # Not `holds`: it tells workers that there are held deliveries to release.
    columns = ["address", "receiver", "is_active", "failing_since", "paused_at", "pause_reason", "updated_at"]
    row.save(update_fields=columns)
    audit.record_change(shop=row.shop, action=action, object=row, before=before, after=after, now=now)


def _audit_fields(registration: Registration) -> dict[str, Any]:
    """The values that the audit log records."""
    return {name: getattr(registration, name) for name in ("topic", "address", "is_active")}


@transaction.atomic
def delete_webhook(*, shop: Shop, installation_id: int, key: str, now: datetime) -> None:
    """Delete the installation's webhook with this topic or id, and cancel its deliveries (R-HOOK-5). Raises
    NotFound."""
    rows = queries.own_webhooks(shop, installation_id=installation_id, key=key)
    deleted = list(rows)
    if not _delete_registrations(rows, now):
        raise NotFound
    for row in deleted:
        audit.record(shop=shop, action="webhook.deleted", object=row, before=_audit_fields(row), now=now)


def delete_all_webhooks(*, installation: Installation, now: datetime) -> None:
    """Delete the installation's registrations and cancel all its deliveries. Call it inside a transaction."""
    _delete_registrations(Registration.objects.filter(shop=installation.shop_id, installation_id=installation.pk), now)
    unended = Delivery.objects.filter(installation_id=installation.pk, status__in=UNENDED)
    _cancel(unended, now)


def _delete_registrations(registrations: Any, now: datetime) -> int:
    """Delete these registrations and cancel their deliveries. Returns how many. The registrations are locked first, so
    that dispatch creates no delivery for one that is being deleted."""
    ids = list(registrations.select_for_update().order_by("id").values_list("id", flat=True))
    _cancel(Delivery.objects.filter(registration__in=ids, status__in=UNENDED), now)
    Registration.objects.filter(pk__in=ids).delete()
    return len(ids)


def _cancel(deliveries: Any, now: datetime) -> None:
    # Locked in the order in which workers record outcomes, to prevent deadlocks.
    unended = deliveries.select_for_update().order_by("id").values_list("id", flat=True)
    while ids := list(unended[:BATCH_ROWS]):
        cancelled = {"status": Delivery.Status.CANCELLED, "ended_at": now, "lease": None, "sealed_message": None}
        Delivery.objects.filter(pk__in=ids).update(**cancelled)


@transaction.atomic
def send_test(*, shop: Shop, installation_id: int, key: str, now: datetime) -> Delivery:
    """Send a sample event, once, to the address of the installation's webhook with this topic or id, also if it is
    paused (R-HOOK-28). Raises NotFound, and Unauthenticated if the app was uninstalled meanwhile."""
    lock_installation(shop=shop, installation_id=installation_id)
    own = queries.own_webhooks(shop, installation_id=installation_id, key=key)
    row = own.select_related("installation").first()
    if row is None:
        raise NotFound
    id = uuid4()
    sample = sample_event(shop, row.topic, id=id, scopes=row.installation.scopes, now=now)
    delivery = send_message(
        installation=row.installation,
        kind=Delivery.Kind.TEST,
        address=row.address,
        topic=row.topic,
        message=orjson.dumps(sample),
        id=id,
        now=now,
    )
    after = {"topic": row.topic, "delivery": delivery.pk}
    audit.record(shop=shop, action="webhook.tested", object=row, after=after, now=now)
    return delivery


def send_message(
    *,
    installation: Installation,
    kind: str,
    address: str,
    topic: str,
    message: bytes,
    id: UUID | None = None,
    now: datetime,
) -> Delivery:
    """Create a delivery of this message to the address, due now. Call it inside the transaction of its cause. `id` is
    sent as `webhook-id`; without it, a new one."""
    content = {"sealed_message": seal(message), "message_id": id or uuid4()}
    return _create_delivery(installation, kind, address, topic, now, **content)


def send_event(*, installation: Installation, kind: str, address: str, event: Event, now: datetime) -> Delivery:
    """Create a delivery of this event to the address, due now, independent of registrations."""
    return _create_delivery(installation, kind, address, event.topic, now, event=event, message_id=event.public_id)


def send_own_event(*, installation: Installation, event: Event, now: datetime) -> Delivery:
    """Create a delivery of an event about the app itself, due now: to its webhook for the topic, or without one to its
    install URL."""
    own = Registration.objects.filter(shop=installation.shop_id, installation=installation, topic=event.topic)
    # Locked, so that it is not deleted meanwhile without cancelling the delivery.
    webhook = own.select_for_update(no_key=True).first()
    return _create_delivery(
        installation,
        Delivery.Kind.EVENT,
        webhook.address if webhook else installation.app.install_url,
        event.topic,
        now,
        registration=webhook,
        event=event,
        message_id=event.public_id,
    )


def _create_delivery(
    installation: Installation, kind: str, address: str, topic: str, now: datetime, **content: Any
) -> Delivery:
    return Delivery.objects.create(
        shop_id=installation.shop_id,
        installation_id=installation.pk,
        kind=kind,
        topic=topic,
        address=address,
        receiver=receiver_of(installation.pk, address),
        due_at=now,
        created_at=now,
        **content,
    )

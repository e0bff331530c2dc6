from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from storefront.installations.app_tokens import lock_installation
from storefront.installations.models import Installation
from storefront.kit.addresses import BadAddress, check_url
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.shops import audit
from storefront.shops.models import Shop
from storefront.webhooks.messages import seal
from storefront.webhooks.models import Delivery, Event, Registration
from storefront.webhooks.rules import receiver_of
from storefront.webhooks.topics import TOPICS

# Rows that one statement updates.
BATCH_ROWS = 1000
UNENDED = [Delivery.Status.PENDING, Delivery.Status.HELD]


def record_event(*, shop: Shop, topic: str, data: dict[str, Any], now: datetime) -> Event:
    """Record an event. Call it as the last step of the transaction that changes the data: then the events of two
    writers of one row have the same order as their changes."""
    return Event.objects.create(shop=shop, topic=topic, data=data, created_at=now)


def record_events(*, shop: Shop, events: Iterable[tuple[str, dict[str, Any]]], now: datetime) -> None:
    """Record several events in one statement. `events` are pairs of topic and data, in order."""
    Event.objects.bulk_create(Event(shop=shop, topic=topic, data=data, created_at=now) for topic, data in events)


@transaction.atomic
def register_webhook(
    *, shop: Shop, installation_id: int, topic: str, address: str, now: datetime
) -> tuple[Registration, bool]:
    """Send events of the topic to the address (R-HOOK-2). Returns the registration and whether it is new.

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
    before = {} if created else _audit_fields(registration)
    if not created:
        registration.address, registration.receiver = address, receiver_of(installation_id, address)
        _activate(registration, now)
    after, action = _audit_fields(registration), "webhook.registered"
    audit.record_change(shop=shop, action=action, object=registration, before=before, after=after, now=now)
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
def resume_webhook(*, shop: Shop, registration: Registration, now: datetime) -> None:
    """Make a paused registration active again; its held deliveries are sent. Raises NotFound if it was deleted."""
    row = Registration.objects.select_for_update().filter(shop=shop, pk=registration.pk).first()
    if row is None:
        raise NotFound
    before = _audit_fields(row)
    _activate(row, now)
    after, action = _audit_fields(row), "webhook.resumed"
    audit.record_change(shop=shop, action=action, object=row, before=before, after=after, now=now)


def _audit_fields(registration: Registration) -> dict[str, Any]:
    """The values that the audit log records."""
    return {name: getattr(registration, name) for name in ("topic", "address", "is_active")}


def _activate(registration: Registration, now: datetime) -> None:
    registration.is_active, registration.failing_since = True, None
    registration.paused_at, registration.pause_reason, registration.updated_at = None, "", now
    # Not `holds`: it tells workers that there are held deliveries to release.
    columns = ["address", "receiver", "is_active", "failing_since", "paused_at", "pause_reason", "updated_at"]
    registration.save(update_fields=columns)


@transaction.atomic
def delete_webhook(*, shop: Shop, installation_id: int, topic: str, now: datetime) -> None:
    """Delete the installation's registration of the topic and cancel its deliveries (R-HOOK-5). Raises NotFound."""
    rows = Registration.objects.filter(shop=shop, installation_id=installation_id, topic=topic)
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
    """Delete these and cancel their deliveries. Returns how many. Locked first, so that dispatch creates no delivery
    for a registration that is being deleted."""
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


def send_message(
    *, installation: Installation, kind: str, address: str, topic: str, message: bytes, now: datetime
) -> Delivery:
    """Create a delivery of this message to the address, due now. Call it inside the transaction of its cause."""
    return _create_delivery(installation, kind, address, topic, now, sealed_message=seal(message))


def send_event(*, installation: Installation, kind: str, address: str, event: Event, now: datetime) -> Delivery:
    """Create a delivery of this event to the address, due now, independent of registrations."""
    return _create_delivery(installation, kind, address, event.topic, now, event=event, message_id=event.public_id)


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

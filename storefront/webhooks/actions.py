from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol

from django.db import transaction

from storefront.kit.addresses import BadAddress, check_url
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.shops.app_tokens import hold_installation
from storefront.shops.models import Shop
from storefront.webhooks.messages import seal
from storefront.webhooks.models import Delivery, Event, Registration
from storefront.webhooks.rules import receiver_of
from storefront.webhooks.topics import TOPICS

# Rows that one statement changes.
BATCH = 1000
UNENDED = [Delivery.Status.PENDING, Delivery.Status.HELD]


class Installation(Protocol):
    """What this room knows of an `apps.Installation`, whose room is built on this one."""

    pk: Any
    shop_id: int


def record_event(*, shop: Shop, topic: str, data: dict[str, Any], now: datetime) -> Event:
    """Write down that something happened. Call it inside the transaction that makes it happen, last, so that of two
    writers of one row the second to change it is also the second to tell."""
    return Event.objects.create(shop=shop, topic=topic, data=data, created_at=now)


def record_events(*, shop: Shop, happened: Iterable[tuple[str, dict[str, Any]]], now: datetime) -> None:
    """The same for several at once, each a topic and its data, in their order and in one statement."""
    Event.objects.bulk_create(Event(shop=shop, topic=topic, data=data, created_at=now) for topic, data in happened)


@transaction.atomic
def register_webhook(
    *, shop: Shop, installation_id: int, topic: str, address: str, now: datetime
) -> tuple[Registration, bool]:
    """Have events of the topic sent to the address: the registration, and whether it is new.

    The topic's registration, if there is one, gets the new address and is active again; what waited for it goes on
    there. Raises InvalidFields, and Unauthenticated where the app was uninstalled meanwhile.
    """
    _check(topic, address)
    hold_installation(shop=shop, installation_id=installation_id)
    registration, created = Registration.objects.select_for_update().get_or_create(
        installation_id=installation_id,
        topic=topic,
        defaults={
            "shop": shop,
            "address": address,
            "receiver": receiver_of(address),
            "created_at": now,
            "updated_at": now,
        },
    )
    if not created:
        registration.address, registration.receiver = address, receiver_of(address)
        _activate(registration, now)
    return registration, created


def _check(topic: str, address: str) -> None:
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
    """Turn a paused registration on again; what waited for it goes on. Raises NotFound where it is gone."""
    row = Registration.objects.select_for_update().filter(shop=shop, pk=registration.pk).first()
    if row is None:
        raise NotFound
    _activate(row, now)


def _activate(registration: Registration, now: datetime) -> None:
    registration.is_active, registration.failing_since = True, None
    registration.paused_at, registration.pause_reason, registration.updated_at = None, "", now
    # All but `holds`, by which a worker sees that it has something to release.
    columns = ["address", "receiver", "is_active", "failing_since", "paused_at", "pause_reason", "updated_at"]
    registration.save(update_fields=columns)


@transaction.atomic
def delete_webhook(*, shop: Shop, installation_id: int, topic: str, now: datetime) -> None:
    """Remove the installation's registration of the topic, and cancel what was still to be sent. Raises NotFound."""
    rows = Registration.objects.filter(shop=shop, installation_id=installation_id, topic=topic)
    if not _remove(rows, now):
        raise NotFound


def end_deliveries(*, installation: Installation, now: datetime) -> None:
    """Remove what the app has registered, and send nothing more to it. Part of the caller's transaction."""
    _remove(Registration.objects.filter(shop=installation.shop_id, installation_id=installation.pk), now)
    unended = Delivery.objects.filter(installation_id=installation.pk, status__in=UNENDED)
    _cancel(unended, now)


def _remove(registrations: Any, now: datetime) -> int:
    """How many there were. They are locked first, so that dispatch makes no delivery for one that is about to go."""
    ids = list(registrations.select_for_update().order_by("id").values_list("id", flat=True))
    _cancel(Delivery.objects.filter(registration__in=ids, status__in=UNENDED), now)
    Registration.objects.filter(pk__in=ids).delete()
    return len(ids)


def _cancel(deliveries: Any, now: datetime) -> None:
    # Locked in the order in which workers mark them, so that none waits for one that waits for it.
    waiting = deliveries.select_for_update().order_by("id").values_list("id", flat=True)
    while ids := list(waiting[:BATCH]):
        ended = {"status": Delivery.Status.CANCELLED, "ended_at": now, "lease": None, "sealed_message": None}
        Delivery.objects.filter(pk__in=ids).update(**ended)


def send_message(
    *, installation: Installation, kind: str, address: str, topic: str, message: bytes, now: datetime
) -> Delivery:
    """Have this sent to the address, at once and again until it arrives. Belongs into the transaction of its cause."""
    return _send(installation, kind, address, topic, now, sealed_message=seal(message))


def send_event(*, installation: Installation, kind: str, address: str, event: Event, now: datetime) -> Delivery:
    """The same for an event, whoever has registered for its topic."""
    return _send(installation, kind, address, event.topic, now, event=event, message_id=event.public_id)


def _send(installation: Installation, kind: str, address: str, topic: str, now: datetime, **content: Any) -> Delivery:
    return Delivery.objects.create(
        shop_id=installation.shop_id,
        installation_id=installation.pk,
        kind=kind,
        topic=topic,
        address=address,
        receiver=receiver_of(address),
        due_at=now,
        created_at=now,
        **content,
    )

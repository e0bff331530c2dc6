"""Builds messages: their bytes, and the secrets that sign them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from storefront.kit import sealing
from storefront.kit.clock import timestamp
from storefront.webhooks.models import Delivery, Event
from storefront.webhooks.topics import TOPICS

SEALED = "delivery-message"


@dataclass(frozen=True, slots=True)
class Message:
    """One attempt of a delivery, after `tries` other attempts; `earlier_tries` of those were before the last replay."""

    delivery_id: int
    shop_id: int
    registration_id: int | None
    receiver: int
    tries: int
    earlier_tries: int
    address: str
    id: str
    body: bytes
    secrets: tuple[str, ...]


def event_record(event: Event, *, shop_domain: str, scopes: Collection[str]) -> dict[str, Any]:
    """An event as JSON for webhooks and the feed. Without the topic's scope, `data` is the object's id (R-HOOK-9)."""
    scope = TOPICS.get(event.topic)
    data = event.data if scope is None or scope in scopes else {"id": event.data.get("id")}
    return {
        "id": str(event.public_id),
        "type": event.topic,
        "timestamp": timestamp(event.created_at),
        "shop_domain": shop_domain,
        "sequence": event.sequence,
        "data": data,
    }


def seal(message: bytes) -> bytes:
    """Encrypt a message for storage until it is delivered, since it may contain a token."""
    return sealing.seal(message, purpose=SEALED)


class SecretCache:
    """The secrets that sign deliveries. Each installation's are decrypted once for a batch of deliveries."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.cache: dict[tuple[int, bool], tuple[str, ...]] = {}

    def of(self, delivery: Delivery) -> tuple[str, ...]:
        """The delivery's secrets, newest first. Raises Unsealable."""
        installation, is_install = delivery.installation, delivery.kind == Delivery.Kind.INSTALL
        key = (installation.pk, is_install)
        if key not in self.cache:
            # An app that is told of a new installation knows only the app's own secret yet.
            found = [installation.app.secret] if is_install else installation.signing_secrets(self.now)
            self.cache[key] = tuple(found)
        return self.cache[key]


def message_of(delivery: Delivery, secrets: SecretCache) -> Message:
    """The message of a delivery. Its event, registration, shop and installation should be prefetched. Raises
    Unsealable."""
    return Message(
        delivery_id=delivery.pk,
        shop_id=delivery.shop_id,
        registration_id=delivery.registration_id,
        receiver=delivery.receiver,
        tries=delivery.tries,
        earlier_tries=delivery.earlier_tries,
        address=delivery.registration.address if delivery.registration else delivery.address,
        id=str(delivery.message_id),
        body=_body(delivery),
        secrets=secrets.of(delivery),
    )


def _body(delivery: Delivery) -> bytes:
    if delivery.event is None:
        return sealing.unseal(bytes(delivery.sealed_message or b""), purpose=SEALED)
    scopes = delivery.installation.scopes
    return orjson.dumps(event_record(delivery.event, shop_domain=delivery.shop.domain, scopes=scopes))

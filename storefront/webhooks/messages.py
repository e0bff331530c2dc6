"""Builds messages: their bytes, and the secrets that sign them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from storefront.kit import sealing
from storefront.kit.clock import timestamp
from storefront.webhooks.models import Delivery, Event
from storefront.webhooks.rules import MAX_TRIES
from storefront.webhooks.topics import SCOPES_CHANGED, TOPICS

SEALED = "delivery-message"
# Messages with an installation's token are signed with the app's own secret.
WITH_TOKEN = (Delivery.Kind.INSTALL, Delivery.Kind.TOKEN)


@dataclass(frozen=True, slots=True)
class Message:
    """One attempt of a delivery, after `tries` other attempts; `earlier_tries` of those were before the last replay,
    and `most_tries` are made after it."""

    delivery_id: int
    shop_id: int
    registration_id: int | None
    receiver: int
    tries: int
    earlier_tries: int
    most_tries: int
    address: str
    id: str
    body: bytes
    secrets: tuple[str, ...]


def event_record(event: Event, *, shop_domain: str, scopes: Collection[str], installation_id: int) -> dict[str, Any]:
    """An event as JSON for the webhooks and the feed of this installation. `data` is the object's id alone without the
    topic's scope (R-HOOK-9), and if another app's scopes were changed (R-APP-40)."""
    scope, id = TOPICS.get(event.topic), event.data.get("id")
    is_readable = scope is None or scope in scopes
    if event.topic == SCOPES_CHANGED:
        is_readable = id == installation_id
    data = event.data if is_readable else {"id": id}
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
        installation, has_token = delivery.installation, delivery.kind in WITH_TOKEN
        key = (installation.pk, has_token)
        if key not in self.cache:
            # A receiver of a new installation knows only the app's own secret yet.
            found = [installation.app.secret] if has_token else installation.signing_secrets(self.now)
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
        # A test is not retried: the caller waits for its outcome, and can send another one (R-HOOK-28).
        most_tries=1 if delivery.kind == Delivery.Kind.TEST else MAX_TRIES,
        address=delivery.registration.address if delivery.registration else delivery.address,
        id=str(delivery.message_id),
        body=_body(delivery),
        secrets=secrets.of(delivery),
    )


def _body(delivery: Delivery) -> bytes:
    if delivery.event is None:
        return sealing.unseal(bytes(delivery.sealed_message or b""), purpose=SEALED)
    installation = delivery.installation
    return orjson.dumps(
        event_record(
            delivery.event,
            shop_domain=delivery.shop.domain,
            scopes=installation.scopes,
            installation_id=installation.pk,
        )
    )

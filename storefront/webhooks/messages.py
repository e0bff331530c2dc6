"""What is sent: the bytes of a message, and with whose secrets they are signed."""

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
    """One try of a delivery. `tries` were made before it, `earlier_tries` of them before its last replay. A `problem`
    is why nothing can be sent."""

    delivery_id: int
    shop_id: int
    registration_id: int | None
    receiver: int
    tries: int
    earlier_tries: int
    address: str
    id: str
    body: bytes = b""
    secrets: tuple[str, ...] = ()
    problem: str = ""


def event_record(event: Event, *, shop_domain: str, scopes: Collection[str]) -> dict[str, Any]:
    """An event as receivers and readers of the feed see it: without the scope of its topic, the object's id alone
    (decisions: Topics)."""
    needed = TOPICS.get(event.topic)
    data = event.data if needed is None or needed in scopes else {"id": event.data.get("id")}
    return {
        "id": str(event.public_id),
        "type": event.topic,
        "timestamp": timestamp(event.created_at),
        "shop_domain": shop_domain,
        "sequence": event.sequence,
        "data": data,
    }


def seal(message: bytes) -> bytes:
    """A message as it is kept until it has arrived: it may hold a token."""
    return sealing.seal(message, purpose=SEALED)


class Secrets:
    """What deliveries are signed with; each is unsealed once, however many deliveries there are."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.known: dict[tuple[int, bool], tuple[str, ...]] = {}

    def of(self, delivery: Delivery) -> tuple[str, ...]:
        """Raises Unsealable."""
        installation, is_install = delivery.installation, delivery.kind == Delivery.Kind.INSTALL
        key = (installation.pk, is_install)
        if key not in self.known:
            # Whoever hears of an installation knows nothing of it yet but the app's own secret.
            found = [installation.app.secret] if is_install else installation.signing_secrets(self.now)
            self.known[key] = tuple(found)
        return self.known[key]


def message_of(delivery: Delivery, secrets: Secrets) -> Message:
    """The message of a delivery whose event, registration, shop and installation are at hand."""
    try:
        content: dict[str, Any] = {"body": _body(delivery), "secrets": secrets.of(delivery)}
    except sealing.Unsealable:
        content = {"problem": "Its secret cannot be read: SECRET_KEY was changed and the old key not kept."}
    return Message(
        delivery_id=delivery.pk,
        shop_id=delivery.shop_id,
        registration_id=delivery.registration_id,
        receiver=delivery.receiver,
        tries=delivery.tries,
        earlier_tries=delivery.earlier_tries,
        address=delivery.registration.address if delivery.registration else delivery.address,
        id=str(delivery.message_id),
        **content,
    )


def _body(delivery: Delivery) -> bytes:
    if delivery.event is None:
        return sealing.unseal(bytes(delivery.sealed_message or b""), purpose=SEALED)
    scopes = delivery.installation.scopes
    return orjson.dumps(event_record(delivery.event, shop_domain=delivery.shop.domain, scopes=scopes))

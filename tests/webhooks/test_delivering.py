"""An event is delivered to the webhook of its topic, signed, and recorded (R-HOOK-8)."""

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from storefront.webhooks.models import Attempt, Delivery
from tests.factories.apps import install
from tests.receiver import receiving
from tests.webhooks.factories import delivering, emit, register, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def ended(*statuses: str) -> list[Delivery]:
    """All deliveries if they have these statuses, or else none."""
    rows = list(Delivery.objects.order_by("id"))
    return rows if [row.status for row in rows] == list(statuses) else []


def test_an_event_arrives_signed_and_is_recorded_as_delivered(shop):
    installed = install(shop, "read_orders")
    Delivery.objects.all().delete()
    with receiving() as receiver, delivering():
        register(installed, f"{receiver.url}/hook")
        event = emit(shop, total="9.50")
        received = receiver.next()
        (row,) = wait_until(lambda: ended("delivered"))
    assert (received.method, received.path, received.headers["Content-Type"]) == ("POST", "/hook", "application/json")
    body = Webhook(installed.secret).verify(received.body, received.headers)
    event.refresh_from_db()
    assert body == {
        "id": str(event.public_id),
        "type": "order.placed",
        "timestamp": event.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "shop_domain": shop.domain,
        "sequence": 1,
        "data": {"id": 7, "total": "9.50"},
    }
    assert received.headers["webhook-id"] == body["id"]
    assert (row.tries, row.lease, row.ended_at is not None) == (1, None, True)
    attempt = Attempt.objects.get()
    assert (attempt.number, attempt.status, attempt.error, attempt.answer) == (1, 200, "", "")


def test_another_secret_does_not_verify_the_signature(shop):
    installed, other = install(shop), install(shop)
    Delivery.objects.all().delete()
    with receiving() as receiver, delivering():
        register(installed, receiver.url)
        emit(shop)
        received = receiver.next()
        wait_until(lambda: ended("delivered"))
    with pytest.raises(WebhookVerificationError):
        Webhook(other.secret).verify(received.body, received.headers)

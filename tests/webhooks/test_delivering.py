"""An event reaches whoever registered for its topic, signed, and is written down (decisions: Delivery)."""

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from storefront.webhooks.models import Attempt, Delivery
from tests.factories.apps import install
from tests.receiver import receiving
from tests.webhooks.factories import delivering, happen, register, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def ended(*statuses: str) -> list[Delivery]:
    """Every delivery, once none is pending any more and they are these."""
    rows = list(Delivery.objects.order_by("id"))
    return rows if [row.status for row in rows] == list(statuses) else []


def test_an_event_arrives_signed_and_is_marked_as_delivered(shop):
    installed = install(shop, "read_orders")
    Delivery.objects.all().delete()
    with receiving() as receiver, delivering():
        register(installed, f"{receiver.url}/hook")
        event = happen(shop, total="9.50")
        came = receiver.next()
        (row,) = wait_until(lambda: ended("delivered"))
    assert (came.method, came.path, came.headers["Content-Type"]) == ("POST", "/hook", "application/json")
    body = Webhook(installed.secret).verify(came.body, came.headers)
    event.refresh_from_db()
    assert body == {
        "id": str(event.public_id),
        "type": "order.placed",
        "timestamp": event.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "shop_domain": shop.domain,
        "sequence": 1,
        "data": {"id": 7, "total": "9.50"},
    }
    assert came.headers["webhook-id"] == body["id"]
    assert (row.tries, row.lease, row.ended_at is not None) == (1, None, True)
    attempt = Attempt.objects.get()
    assert (attempt.number, attempt.status, attempt.error, attempt.answer) == (1, 200, "", "")


def test_another_secret_does_not_verify_it(shop):
    installed, other = install(shop), install(shop)
    Delivery.objects.all().delete()
    with receiving() as receiver, delivering():
        register(installed, receiver.url)
        happen(shop)
        came = receiver.next()
        wait_until(lambda: ended("delivered"))
    with pytest.raises(WebhookVerificationError):
        Webhook(other.secret).verify(came.body, came.headers)

"""Webhooks: registered, listed, removed, and a delivery that can be verified."""

import re

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from storefront.webhooks.models import Delivery
from tests.factories.apps import install
from tests.receiver import receiving
from tests.webhooks.factories import delivering, emit, register, wait_until

ADDRESS = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    found = install(shop, "read_orders", "write_webhooks")
    Delivery.objects.all().delete()
    return found


def post(app, topic: str = "order.placed", address: str = ADDRESS):
    return app.api.post("/webhooks", {"topic": topic, "address": address})


@pytest.mark.rule("R-HOOK-2", "R-HOOK-3", "R-HOOK-5")
def test_an_app_registers_a_webhook_per_topic_and_removes_it(app):
    assert (post(app).status_code, post(app, "order.paid").status_code) == (201, 201)
    assert app.api.delete("/webhooks/order.placed").status_code == 200
    assert [row["topic"] for row in app.api.get("/webhooks").json()["webhooks"]] == ["order.paid"]


@pytest.mark.rule("R-HOOK-2")
def test_the_message_on_registration_reads_webhook_registered(app):
    answer = post(app).json()
    assert (set(answer), answer["message"]) == ({"message", "webhook"}, "Webhook registered.")


@pytest.mark.rule("R-HOOK-4")
def test_a_record_has_topic_address_created_at_id_state_and_the_reason_of_a_pause(app):
    assert list(post(app).json()["webhook"]) == [
        *("topic", "address", "created_at", "id", "state", "paused_reason"),
    ]


@pytest.mark.rule("R-HOOK-4", "R-CALL-5")
def test_its_timestamp_has_a_numeric_offset_and_no_fraction(app):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", post(app).json()["webhook"]["created_at"])


@pytest.mark.rule("R-APP-11")
def test_the_list_is_wrapped_under_webhooks(app):
    post(app)
    assert set(app.api.get("/webhooks").json()) == {"webhooks"}


@pytest.mark.rule("R-APP-11")
def test_listing_needs_no_scope_and_shows_the_apps_own(shop, app):
    post(app)
    other = install(shop)
    assert (other.api.get("/webhooks").status_code, other.api.get("/webhooks").json()) == (200, {"webhooks": []})


@pytest.mark.rule("R-APP-12")
def test_writing_needs_write_webhooks(shop):
    answer = post(install(shop, "read_orders"))
    assert answer.status_code == 403
    assert answer.json()["message"] == "Insufficient scope for this endpoint."
    assert answer.json()["required_scopes"] == ["write_webhooks"]
    assert answer.json()["granted_scopes"] == ["read_orders"]


@pytest.mark.rule("R-HOOK-7", "R-HOOK-17")
@pytest.mark.django_db(transaction=True)
def test_the_payload_carries_an_id_usable_to_detect_repeats(shop, app):
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        emit(shop)
        first = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
        (row,) = app.api.get("/webhooks/deliveries").json()["deliveries"]
        app.api.post(f"/webhooks/deliveries/{row['id']}/replay")
        again = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered", tries=2).exists())
    ids = {Webhook(app.secret).verify(came.body, came.headers)["id"] for came in (first, again)}
    assert len(ids) == 1


@pytest.mark.rule("R-HOOK-8")
@pytest.mark.django_db(transaction=True)
def test_the_receiver_can_verify_the_signature_of_each_delivery(shop, app):
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        emit(shop)
        came = receiver.next()
        wait_until(lambda: Delivery.objects.filter(status="delivered").exists())
    Webhook(app.secret).verify(came.body, came.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(app.secret).verify(came.body + b" ", came.headers)

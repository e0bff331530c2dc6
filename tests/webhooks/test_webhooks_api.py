"""Webhooks are registered, replaced, listed and removed through the App API."""

import pytest

from storefront.webhooks.models import Delivery, Registration
from tests.factories.apps import install
from tests.webhooks.factories import emit

ADDRESS = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    return install(shop, "write_webhooks")


def test_a_webhook_is_registered(app, django_assert_max_num_queries):
    with django_assert_max_num_queries(14):
        answer = app.api.post("/webhooks", {"topic": "order.placed", "address": ADDRESS})
    row = Registration.objects.get()
    created_at = row.created_at.strftime("%Y-%m-%dT%H:%M:%S+00:00")
    webhook = {"topic": "order.placed", "address": ADDRESS, "created_at": created_at}
    webhook |= {"id": row.pk, "state": "active", "paused_reason": None}
    assert (answer.status_code, answer.json()) == (201, {"message": "Webhook registered.", "webhook": webhook})
    assert app.api.get("/webhooks").json() == {"webhooks": [webhook]}


@pytest.mark.rule("R-HOOK-3")
def test_registering_a_topic_again_replaces_the_address(app):
    for status, address in ((201, ADDRESS), (200, ADDRESS + "/2")):
        answer = app.api.post("/webhooks", {"topic": "order.placed", "address": address})
        assert (answer.status_code, answer.json()["webhook"]["address"]) == (status, address)
    assert [row["address"] for row in app.api.get("/webhooks").json()["webhooks"]] == [ADDRESS + "/2"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"topic": "order.eaten", "address": ADDRESS}, "topic"),
        ({"topic": 7, "address": ADDRESS}, "topic"),
        ({"address": ADDRESS}, "topic"),
        ({"topic": "order.placed"}, "address"),
        ({"topic": "order.placed", "address": None}, "address"),
        ({"topic": "order.placed", "address": "app.example.com"}, "address"),
        ({"topic": "order.placed", "address": "https://me:secret@app.example.com/"}, "address"),
        ({"topic": "order.placed", "address": f"https://app.example.com/{'x' * 2048}"}, "address"),
    ],
)
def test_refuses_invalid_fields(app, body, field):
    answer = app.api.post("/webhooks", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_fields")
    assert list(answer.json()["errors"]) == [field]


def test_a_private_address_is_refused(app, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    answer = app.api.post("/webhooks", {"topic": "order.placed", "address": "https://10.0.0.1/hook"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["address"])


def test_writing_needs_a_scope_and_reading_none(shop):
    app = install(shop)
    for answer in (
        app.api.post("/webhooks", {"topic": "order.placed", "address": ADDRESS}),
        app.api.delete("/webhooks/order.placed"),
        app.api.patch("/webhooks/order.placed", {"address": ADDRESS}),
        app.api.post("/webhooks/order.placed/test"),
        app.api.post("/webhooks/replay", {}),
        app.api.post("/webhooks/deliveries/1/replay"),
    ):
        assert (answer.status_code, answer.json()["required_scopes"]) == (403, ["write_webhooks"])
    assert [app.api.get(path).status_code for path in ("/webhooks", "/webhooks/deliveries", "/events")] == [200] * 3
    assert app.api.get("/webhooks/order.placed").status_code == 404


def test_a_shops_own_token_is_refused(api):
    api.prefix = "/api/apps"
    for path in ("/webhooks", "/webhooks/deliveries", "/events"):
        assert api.get(path).status_code == 401


@pytest.mark.rule("R-HOOK-5")
def test_removing_a_webhook_cancels_its_pending_deliveries(shop, app):
    app.api.post("/webhooks", {"topic": "order.placed", "address": ADDRESS})
    registration = Registration.objects.get()
    Delivery.objects.create(
        shop=shop,
        installation=app.installation,
        registration=registration,
        event=emit(shop),
        topic="order.placed",
        address=ADDRESS,
        receiver=1,
        due_at=registration.created_at,
        created_at=registration.created_at,
    )
    answer = app.api.delete("/webhooks/order.placed")
    assert (answer.status_code, answer.json()) == (200, {"message": "Webhook removed."})
    assert not Registration.objects.exists()
    row = Delivery.objects.get(event__isnull=False)
    assert (row.status, row.ended_at is not None) == ("cancelled", True)
    assert app.api.delete("/webhooks/order.placed").status_code == 404


def test_the_path_of_deliveries_is_not_a_topic(app):
    answer = app.api.delete("/webhooks/deliveries")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")

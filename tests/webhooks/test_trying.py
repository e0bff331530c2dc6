"""A test delivery: a sample event that an app, a merchant or the operator has sent to a webhook (R-HOOK-28)."""

import json

import pytest
from aiohttp import web
from django.urls import reverse
from standardwebhooks import Webhook

from storefront.shops.scopes import SCOPES
from storefront.webhooks.models import Delivery, Event, Registration
from storefront.webhooks.topics import TOPICS
from tests.factories.apps import Installed, install
from tests.receiver import receiving
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk
from tests.webhooks.factories import delivering, listener, register, wait_until

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop) -> Installed:
    return listener(shop, "write_webhooks", "read_orders")


def ended() -> Delivery | None:
    return Delivery.objects.filter(kind="test").exclude(ended_at=None).first()


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-28")
@pytest.mark.django_db(transaction=True)
def test_a_test_is_signed_marked_sent_once_and_listed(shop, app):
    with receiving() as receiver, delivering():
        register(app, receiver.url)
        answer = app.api.post("/webhooks/order.placed/test")
        came = receiver.next()
        row = wait_until(ended)
    assert answer.status_code == 201
    sent = answer.json()["delivery"]
    assert (sent["topic"], sent["test"], sent["sequence"], sent["status"]) == ("order.placed", True, None, "pending")
    body = Webhook(app.secret).verify(came.body, came.headers)
    assert body["id"] == came.headers["webhook-id"] == sent["webhook_id"]
    assert (body["type"], body["shop_domain"], body["sequence"]) == ("order.placed", shop.domain, 0)
    assert (body["test"], body["data"]["id"]) == (True, 0)
    assert body["data"]["lines"]
    (listed,) = app.api.get("/webhooks/deliveries").json()["deliveries"]
    assert (listed["id"], listed["status"], listed["attempts"][0]["status"]) == (sent["id"], "delivered", 200)
    assert row.sealed_message is None
    # It is no event: nothing of it is in the feed.
    assert not Event.objects.exists()


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-28")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("status", [500, 410])
def test_a_test_that_fails_is_not_repeated_and_pauses_nothing(app, status):
    async def refuse(_):
        return web.Response(status=status)

    with receiving(refuse) as receiver, delivering():
        row = register(app, receiver.url)
        app.api.post("/webhooks/order.placed/test")
        test = wait_until(ended)
    assert (test.status, test.tries, receiver.received.qsize()) == ("dead", 1, 1)
    row.refresh_from_db()
    assert (row.is_active, row.failing_since) == (True, None)
    answer = app.api.post(f"/webhooks/deliveries/{test.pk}/replay")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_replayable")


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-28")
@pytest.mark.django_db(transaction=True)
def test_a_paused_webhook_can_be_tested_and_stays_paused(app):
    with receiving() as receiver, delivering():
        row = register(app, receiver.url)
        Registration.objects.update(is_active=False, paused_at=NOW, pause_reason="failing")
        app.api.post(f"/webhooks/{row.pk}/test")
        receiver.next()
        assert wait_until(ended).status == "delivered"
    assert Registration.objects.get().is_active is False


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-28")
@pytest.mark.django_db(transaction=True)
def test_a_sample_has_only_its_id_without_the_scope(shop):
    blind = install(shop, "write_webhooks")
    with receiving() as receiver:
        register(blind, receiver.url)
        with delivering():
            Delivery.objects.exclude(kind="test").delete()
            blind.api.post("/webhooks/order.placed/test")
            body = json.loads(receiver.next().body)
    assert body["data"] == {"id": 0}


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_can_be_tested(shop, topic):
    app = install(shop, *SCOPES)
    register(app, HOOK, topic)
    answer = app.api.post(f"/webhooks/{topic}/test")
    assert (answer.status_code, answer.json()["delivery"]["topic"]) == (201, topic)


def test_a_replayed_call_sends_no_second_test(app, django_assert_max_num_queries):
    register(app, HOOK)
    with django_assert_max_num_queries(22):
        answers = [app.api.post("/webhooks/order.placed/test", Idempotency_Key="one") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert Delivery.objects.filter(kind="test").count() == 1


def test_a_merchant_sends_a_test_with_a_button(desk, shop, app):
    row = register(app, HOOK)
    url = reverse("admin:webhooks_registration_send_test", args=[row.pk])
    assert url in desk.page(row).content.decode()
    page = desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()
    sent = Delivery.objects.get(kind="test")
    assert sent.address == HOOK
    assert "order.placed (test)" in page
    assert reverse("admin:webhooks_delivery_replay", args=[sent.pk]) not in page


def test_only_owners_of_the_shop_send_tests(desk, shop, other_shop, app):
    elsewhere = register(install(other_shop), HOOK)
    here = register(app, HOOK)
    clerk = open_desk(make_staff(shop, "clerk", "manager"))
    for caller, row, status in ((desk, elsewhere, 404), (clerk, here, 403)):
        url = reverse("admin:webhooks_registration_send_test", args=[row.pk])
        assert caller.post(url, {"_form_submitted": "on"}).status_code == status
    assert not Delivery.objects.filter(kind="test").exists()

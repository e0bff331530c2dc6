"""Topics, and the calls about webhooks. What takes a receiver is in tests/webhooks/test_receivers.py, the schedule in
test_rules.py and test_recording.py, the races in test_dispatch.py and test_claiming.py, kills in
tests/server/test_kills.py."""

import pytest

from storefront.kit import clock
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery
from storefront.webhooks.topics import TOPICS
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.webhooks.factories import emit, register

ADDRESS = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    found = install(shop, "read_orders", "write_webhooks")
    Delivery.objects.all().delete()
    return found


@pytest.mark.rule("R-HOOK-1")
def test_the_topics_are_these():
    assert set(TOPICS) == {
        *("order.placed", "order.paid", "order.fulfilled", "order.cancelled", "order.refunded"),
        *("order.updated", "refund.failed", "checkout.abandoned"),
        *("product.created", "product.updated", "product.deleted", "inventory.updated"),
        *("customer.created", "customer.updated", "customer.erased", "app.uninstalled"),
        "app.scopes_changed",
    }


@pytest.mark.rule("R-HOOK-1")
@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_can_be_registered(app, topic):
    assert app.api.post("/webhooks", {"topic": topic, "address": ADDRESS}).status_code == 201


@pytest.mark.rule("R-HOOK-1")
def test_an_unknown_topic_is_a_422(app):
    answer = app.api.post("/webhooks", {"topic": "order.eaten", "address": ADDRESS})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["topic"])


@pytest.mark.rule("R-HOOK-3")
def test_the_same_topic_again_replaces_the_address_with_a_200(app):
    for status in (201, 200):
        assert app.api.post("/webhooks", {"topic": "order.placed", "address": ADDRESS}).status_code == status


@pytest.mark.rule("R-HOOK-2")
def test_address_is_required(app):
    answer = app.api.post("/webhooks", {"topic": "order.placed"})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["address"])


@pytest.mark.rule("R-HOOK-5", "R-APP-13")
def test_delete_answers_200_with_a_message(app):
    register(app, ADDRESS)
    answer = app.api.delete("/webhooks/order.placed")
    assert (answer.status_code, list(answer.json())) == (200, ["message"])


@pytest.mark.rule("R-HOOK-9", "R-HOOK-18")
def test_without_the_read_scope_only_the_id_of_the_object_is_told(shop):
    emit(shop, "customer.created", email="ada@example.com")
    dispatch(clock.now())
    (event,) = install(shop, "read_orders").api.get("/events").json()["events"]
    assert event["data"] == {"id": 7}


@pytest.mark.rule("R-HOOK-7")
def test_an_order_that_is_placed_is_an_event_with_a_sequence(shop, app):
    for _ in range(2):
        make_order(shop, sale_line(make_product(shop)))
    dispatch(clock.now())
    events = app.api.get("/events").json()["events"]
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    placed = [event for event in events if event["type"] == "order.placed"]
    assert len(placed) == 2
    assert set(placed[0]) == {"id", "type", "timestamp", "shop_domain", "sequence", "data"}


@pytest.mark.rule("R-HOOK-16", "R-HOOK-17")
def test_deliveries_and_replays_are_the_callers_own_only(shop, app):
    register(app, ADDRESS)
    emit(shop)
    dispatch(clock.now())
    (row,) = app.api.get("/webhooks/deliveries?topic=order.placed").json()["deliveries"]
    other = install(shop, "write_webhooks")
    assert other.api.get("/webhooks/deliveries?topic=order.placed").json()["deliveries"] == []
    assert other.api.post(f"/webhooks/deliveries/{row['id']}/replay").status_code == 404

"""The feed of a shop's events, from which apps recover missed deliveries (R-HOOK-18)."""

import pytest

from storefront.kit import clock
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Event
from tests.factories.apps import install
from tests.webhooks.factories import emit


@pytest.fixture
def app(shop):
    return install(shop, "read_orders")


def emit_dispatched(shop, *topics: str) -> None:
    for topic in topics:
        emit(shop, topic, total="9.50")
    dispatch(clock.now())


@pytest.mark.rule("R-HOOK-18", "R-HOOK-7")
def test_events_are_in_order_and_equal_to_those_of_webhooks(shop, app, django_assert_num_queries):
    emit_dispatched(shop, "order.placed", "order.paid")
    with django_assert_num_queries(3):
        answer = app.api.get("/events").json()
    first = Event.objects.earliest("id")
    assert answer["events"][0] == {
        "id": str(first.public_id),
        "type": "order.placed",
        "timestamp": first.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "shop_domain": shop.domain,
        "sequence": 1,
        "data": {"id": 7, "total": "9.50"},
    }
    assert [event["sequence"] for event in answer["events"]] == [1, 2]
    assert answer["next_after"] == 2


def test_an_undispatched_event_is_not_in_the_feed(shop, app):
    emit_dispatched(shop, "order.placed")
    emit(shop)
    answer = app.api.get("/events").json()
    assert (len(answer["events"]), answer["next_after"]) == (1, 1)


@pytest.mark.rule("R-HOOK-18")
def test_pages_have_no_gaps(shop, app):
    emit_dispatched(shop, *["order.placed"] * 7)
    after, found = 0, []
    for _ in range(4):
        answer = app.api.get(f"/events?after={after}&limit=3").json()
        found += [event["sequence"] for event in answer["events"]]
        after = answer["next_after"]
    assert (found, after) == ([1, 2, 3, 4, 5, 6, 7], 7)


def test_filters_by_topic_and_skips_other_events_on_the_next_page(shop, app):
    emit_dispatched(shop, "order.placed", "order.paid", "order.placed")
    answer = app.api.get("/events?topic=order.paid").json()
    assert ([event["sequence"] for event in answer["events"]], answer["next_after"]) == ([2], 3)


def test_a_reader_ahead_of_the_feed_keeps_its_position(shop, app):
    emit_dispatched(shop, "order.placed")
    assert app.api.get("/events?after=9").json() == {"events": [], "next_after": 9}


def test_without_the_topics_scope_data_is_only_the_id(shop):
    emit_dispatched(shop, "order.placed", "product.updated")
    app = install(shop, "read_products")
    assert [event["data"] for event in app.api.get("/events").json()["events"]] == [
        {"id": 7},
        {"id": 7, "total": "9.50"},
    ]


def test_another_shops_events_are_not_in_the_feed(shop, other_shop, app):
    emit_dispatched(other_shop, "order.placed")
    assert app.api.get("/events").json() == {"events": [], "next_after": 0}


@pytest.mark.rule("R-HOOK-18")
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("after=-1", "after"),
        ("after=x", "after"),
        (f"after={2**53}", "after"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("topic=order.eaten", "topic"),
    ],
)
def test_refuses_invalid_fields(app, query, field):
    answer = app.api.get(f"/events?{query}")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])

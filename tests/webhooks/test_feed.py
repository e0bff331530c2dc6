"""The feed of a shop's events, so that a missed delivery is never a lost event (decisions: Event)."""

import pytest

from storefront.kit import clock
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Event
from tests.factories.apps import install
from tests.webhooks.factories import happen


@pytest.fixture
def app(shop):
    return install(shop, "read_orders")


def tell(shop, *topics: str) -> None:
    for topic in topics:
        happen(shop, topic, total="9.50")
    dispatch(clock.now())


def test_events_come_as_webhooks_tell_them_in_order(shop, app, django_assert_num_queries):
    tell(shop, "order.placed", "order.paid")
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


def test_an_event_that_is_not_dispatched_yet_is_not_there_yet(shop, app):
    tell(shop, "order.placed")
    happen(shop)
    answer = app.api.get("/events").json()
    assert (len(answer["events"]), answer["next_after"]) == (1, 1)


def test_pages_follow_each_other_without_a_gap(shop, app):
    tell(shop, *["order.placed"] * 7)
    after, found = 0, []
    for _ in range(4):
        answer = app.api.get(f"/events?after={after}&limit=3").json()
        found += [event["sequence"] for event in answer["events"]]
        after = answer["next_after"]
    assert (found, after) == ([1, 2, 3, 4, 5, 6, 7], 7)


def test_a_topic_leaves_the_others_out_and_is_not_searched_for_twice(shop, app):
    tell(shop, "order.placed", "order.paid", "order.placed")
    answer = app.api.get("/events?topic=order.paid").json()
    assert ([event["sequence"] for event in answer["events"]], answer["next_after"]) == ([2], 3)


def test_a_reader_that_is_ahead_of_the_feed_stays_where_it_is(shop, app):
    tell(shop, "order.placed")
    assert app.api.get("/events?after=9").json() == {"events": [], "next_after": 9}


def test_without_the_topics_scope_there_is_only_the_objects_id(shop):
    tell(shop, "order.placed", "product.updated")
    app = install(shop, "read_products")
    assert [event["data"] for event in app.api.get("/events").json()["events"]] == [
        {"id": 7},
        {"id": 7, "total": "9.50"},
    ]


def test_another_shops_events_are_not_there(shop, other_shop, app):
    tell(other_shop, "order.placed")
    assert app.api.get("/events").json() == {"events": [], "next_after": 0}


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
def test_what_does_not_fit_is_refused_by_its_field(app, query, field):
    answer = app.api.get(f"/events?{query}")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])

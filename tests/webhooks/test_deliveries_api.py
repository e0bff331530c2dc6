"""An app lists its own deliveries (R-HOOK-16)."""

import pytest

from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery
from tests.factories.apps import install
from tests.webhooks.factories import emit, listener, register

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    found = listener(shop)
    register(found, HOOK)
    return found


def deliver(shop, count: int = 1) -> list[Delivery]:
    for _ in range(count):
        emit(shop)
    dispatch(clock.now())
    return list(Delivery.objects.filter(kind="event").order_by("-id"))


@pytest.mark.rule("R-HOOK-16")
def test_a_delivery_has_its_attempts(shop, app):
    (row,) = deliver(shop)
    Attempt.objects.create(
        shop=shop, delivery=row, number=1, started_at=row.due_at, duration_ms=812, status=500, answer="no"
    )
    Attempt.objects.create(
        shop=shop, delivery=row, number=2, started_at=row.due_at, duration_ms=3000, error="No connection within 3 s."
    )
    Delivery.objects.update(tries=2)
    answer = app.api.get("/webhooks/deliveries").json()
    moment = timestamp(row.due_at)
    tried = {"number": 1, "started_at": moment, "duration_ms": 812, "status": 500, "error": None, "answer": "no"}
    unheard = {"number": 2, "duration_ms": 3000, "status": None, "error": "No connection within 3 s.", "answer": ""}
    assert answer == {
        "deliveries": [
            {
                "id": row.pk,
                "webhook_id": str(row.event.public_id),
                "topic": "order.placed",
                "test": False,
                "sequence": 1,
                "address": HOOK,
                "status": "pending",
                "tries": 2,
                "next_try_at": moment,
                "created_at": timestamp(row.created_at),
                "ended_at": None,
                "attempts": [tried, {**tried, **unheard}],
            }
        ],
        "next_before": None,
    }


@pytest.mark.rule("R-HOOK-16")
def test_pages_are_newest_first(shop, app):
    rows = deliver(shop, 5)
    first = app.api.get("/webhooks/deliveries?limit=2").json()
    assert ([row["id"] for row in first["deliveries"]], first["next_before"]) == ([rows[0].pk, rows[1].pk], rows[1].pk)
    then = app.api.get(f"/webhooks/deliveries?limit=3&before={first['next_before']}").json()
    assert ([row["id"] for row in then["deliveries"]], then["next_before"]) == ([row.pk for row in rows[2:]], None)


@pytest.mark.rule("R-HOOK-16")
def test_filters_by_status_and_topic(shop, app):
    dead, pending = deliver(shop, 2)
    Delivery.objects.filter(pk=dead.pk).update(status="dead", ended_at=clock.now())
    asked = {"status=dead": [dead.pk], "status=pending": [pending.pk], "topic=order.paid": [], "status=held": []}
    for query, found in asked.items():
        assert [row["id"] for row in app.api.get(f"/webhooks/deliveries?{query}").json()["deliveries"]] == found


@pytest.mark.rule("R-HOOK-16")
def test_other_apps_deliveries_are_not_listed(shop, other_shop, app):
    deliver(shop)
    neighbour, elsewhere = install(shop), install(other_shop)
    for other in (neighbour, elsewhere):
        topics = [row["topic"] for row in other.api.get("/webhooks/deliveries").json()["deliveries"]]
        assert topics == ["app.installed"]


def test_an_install_notification_does_not_show_its_message(shop):
    app = install(shop)
    text = app.api.get("/webhooks/deliveries").content.decode()
    assert app.token not in text
    assert app.secret not in text


def test_the_list_takes_the_same_queries_for_many_deliveries(shop, app, django_assert_num_queries):
    for count in (1, 10):
        deliver(shop, count)
        with django_assert_num_queries(3):
            listed = app.api.get("/webhooks/deliveries?limit=100").json()["deliveries"]
        assert len(listed) == Delivery.objects.filter(shop=shop).count() >= count


@pytest.mark.rule("R-HOOK-16")
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=lost", "status"),
        ("topic=x", "topic"),
        ("before=0", "before"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
    ],
)
def test_refuses_invalid_fields(app, query, field):
    answer = app.api.get(f"/webhooks/deliveries?{query}")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])

"""Replaying one delivery or a range of the feed, for the caller's own webhooks only (R-HOOK-17)."""

from datetime import timedelta

import pytest

from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.webhooks import replaying
from storefront.webhooks.actions import delete_webhook
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Event
from storefront.webhooks.rules import receiver_of
from tests.answers import without_id
from tests.factories.apps import install
from tests.webhooks.factories import emit, listener, register

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    """Has a webhook for order.placed and no deliveries."""
    found = listener(shop, "write_webhooks")
    register(found, HOOK)
    return found


def ended(shop, count: int = 1, status: str = "dead", tries: int = 10) -> list[int]:
    """Create this many ended deliveries. Returns their ids."""
    for _ in range(count):
        emit(shop)
    dispatch(clock.now())
    rows = Delivery.objects.filter(status="pending")
    found = list(rows.order_by("id").values_list("id", flat=True))
    rows.update(status=status, tries=tries, ended_at=clock.now())
    return found


def pending() -> list[int]:
    rows = Delivery.objects.filter(status="pending", kind="event").order_by("event__sequence")
    return list(rows.values_list("event__sequence", flat=True))


@pytest.mark.rule("R-HOOK-17")
@pytest.mark.parametrize("status", ["dead", "delivered"])
def test_replays_an_ended_delivery_from_the_start_of_the_schedule(shop, app, status):
    (pk,) = ended(shop, status=status)
    answer = app.api.post(f"/webhooks/deliveries/{pk}/replay")
    assert (answer.status_code, answer.json()["message"]) == (200, "The delivery is sent again.")
    assert (answer.json()["delivery"]["id"], answer.json()["delivery"]["status"]) == (pk, "pending")
    row = Delivery.objects.get()
    assert (row.status, row.tries, row.earlier_tries, row.ended_at) == ("pending", 10, 10, None)
    assert row.due_at <= clock.now()


def test_replaying_a_pending_delivery_makes_it_due_now(shop, app):
    (pk,) = ended(shop)
    Delivery.objects.update(status="pending", ended_at=None, tries=3, due_at=clock.now() + timedelta(hours=5))
    assert app.api.post(f"/webhooks/deliveries/{pk}/replay").status_code == 200
    row = Delivery.objects.get()
    assert (row.tries, row.earlier_tries, row.due_at <= clock.now()) == (3, 0, True)


def test_replaying_a_leased_delivery_changes_nothing(shop, app):
    (pk,) = ended(shop)
    later = clock.now() + timedelta(seconds=10)
    Delivery.objects.update(status="pending", ended_at=None, lease="one", due_at=later)
    app.api.post(f"/webhooks/deliveries/{pk}/replay")
    assert (Delivery.objects.get().lease, Delivery.objects.get().due_at) == ("one", later)


@pytest.mark.rule("R-HOOK-17")
def test_a_replay_goes_to_the_topics_current_address(shop, app):
    (pk,) = ended(shop)
    delete_webhook(shop=shop, installation_id=app.installation.pk, key="order.placed", now=clock.now())
    answer = app.api.post(f"/webhooks/deliveries/{pk}/replay")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_registered")
    register(app, "https://elsewhere.example.com/")
    answer = app.api.post(f"/webhooks/deliveries/{pk}/replay").json()["delivery"]
    assert answer["address"] == "https://elsewhere.example.com/"
    row = Delivery.objects.get(pk=answer["id"])
    receiver = receiver_of(app.installation.pk, "https://elsewhere.example.com/")
    assert (row.event_id, row.receiver) == (Event.objects.get().pk, receiver)


def test_an_install_notification_cannot_be_replayed(shop):
    app = install(shop, "write_webhooks")
    notice = Delivery.objects.get()
    answer = app.api.post(f"/webhooks/deliveries/{notice.pk}/replay")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_replayable")


def test_deliveries_of_other_apps_and_shops_are_not_found(shop, other_shop, app):
    (pk,) = ended(shop)
    neighbour, elsewhere = install(shop, "write_webhooks"), install(other_shop, "write_webhooks")
    for other in (neighbour, elsewhere):
        answer = other.api.post(f"/webhooks/deliveries/{pk}/replay")
        unknown = other.api.post("/webhooks/deliveries/999999/replay")
        assert answer.status_code == 404
        assert without_id(answer) == without_id(unknown)
        assert other.api.post("/webhooks/replay", {}).json()["replayed"] == 0
    assert pending() == []


@pytest.mark.parametrize("id", ["0", "-1", "x", str(2**63), "1" * 40])
def test_an_invalid_id_is_not_found(app, id):
    assert app.api.post(f"/webhooks/deliveries/{id}/replay").status_code == 404


@pytest.mark.rule("R-HOOK-17")
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"after": 2}, [3, 4, 5]),
        ({"before": 3}, [1, 2]),
        ({"after": 1, "before": 4}, [2, 3]),
        ({"topic": "order.placed", "after": 4}, [5]),
        ({"topic": "order.paid"}, []),
        ({"after": 99}, []),
    ],
)
def test_replays_a_range_by_sequence(shop, app, given, found):
    ended(shop, 5, status="delivered")
    answer = app.api.post("/webhooks/replay", given)
    assert (answer.status_code, answer.json()["replayed"], answer.json()["next_after"]) == (200, len(found), None)
    assert pending() == found


@pytest.mark.rule("R-HOOK-17")
def test_replays_a_range_by_time(shop, app):
    ended(shop, 5)
    moments = dict(Event.objects.values_list("sequence", "created_at"))
    answer = app.api.post("/webhooks/replay", {"since": timestamp(moments[2]), "until": timestamp(moments[4])})
    assert (answer.json()["replayed"], pending()) == (2, [2, 3])


def test_replays_events_from_before_the_registration(shop, app):
    register(app, HOOK, "order.paid")
    emit(shop, "order.fulfilled")
    dispatch(clock.now())
    register(app, HOOK, "order.fulfilled")
    assert app.api.post("/webhooks/replay", {}).json()["message"] == "1 delivery is sent again."
    assert Delivery.objects.get(status="pending").topic == "order.fulfilled"


def test_pending_deliveries_are_neither_counted_nor_duplicated(shop, app):
    ended(shop, 3)
    assert [app.api.post("/webhooks/replay", {}).json()["replayed"] for _ in range(2)] == [3, 0]
    assert Delivery.objects.count() == 3


@pytest.mark.rule("R-HOOK-17")
def test_a_large_range_is_replayed_in_several_calls(shop, app, monkeypatch):
    monkeypatch.setattr(replaying, "MAX_REPLAYED", 2)
    ended(shop, 5)
    after, counts = 0, []
    while after is not None:
        answer = app.api.post("/webhooks/replay", {"after": after}).json()
        counts.append(answer["replayed"])
        after = answer["next_after"]
    assert (counts, pending()) == ([2, 2, 1], [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("body", "field"),
    [({"after": -1}, "after"), ({"before": "3"}, "before"), ({"since": "now"}, "since"), ({"topic": "x"}, "topic")],
)
def test_refuses_invalid_bounds(app, body, field):
    answer = app.api.post("/webhooks/replay", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


def test_attempt_numbers_continue_after_a_replay(shop, app):
    (pk,) = ended(shop)
    for number in (1, 2):
        Attempt.objects.create(
            shop=shop, delivery_id=pk, number=number, started_at=clock.now(), duration_ms=1, status=500
        )
    answer = app.api.post(f"/webhooks/deliveries/{pk}/replay").json()["delivery"]
    assert ([each["number"] for each in answer["attempts"]], answer["tries"]) == ([1, 2], 10)


@pytest.mark.rule("R-HOOK-21")
def test_an_uninstall_is_not_replayed_to_other_apps(shop, app):
    register(app, HOOK, "app.uninstalled")
    emit(shop, "app.uninstalled")
    dispatch(clock.now())
    assert app.api.post("/webhooks/replay", {}).json()["replayed"] == 0

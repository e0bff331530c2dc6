"""Dispatch numbers events in the shop's feed and creates a delivery for each webhook (R-HOOK-7)."""

from collections import Counter
from threading import Event as Flag

import pytest
from django.db import transaction

from storefront.kit import clock
from storefront.webhooks import dispatch as dispatching
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery, Event, Feed
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.webhooks.factories import emit, register

HOOK = "https://app.example.com/hook"


def sequences(shop) -> list[int | None]:
    return list(Event.objects.filter(shop=shop).order_by("id").values_list("sequence", flat=True))


def of_events() -> Counter:
    return Counter(Delivery.objects.filter(kind="event").values_list("installation_id", "topic"))


@pytest.mark.rule("R-HOOK-7")
def test_each_shop_has_its_own_sequence_from_one(shop, other_shop):
    for where in (shop, other_shop, shop):
        emit(where)
    assert dispatch(clock.now()) == 3
    assert (sequences(shop), sequences(other_shop)) == ([1, 2], [1])


@pytest.mark.rule("R-HOOK-19")
def test_the_sequence_continues_after_events_were_deleted(shop):
    emit(shop)
    dispatch(clock.now())
    Event.objects.all().delete()
    emit(shop)
    dispatch(clock.now())
    assert sequences(shop) == [2]


def test_every_webhook_of_the_topic_gets_a_delivery(shop, other_shop):
    one, two, elsewhere = install(shop), install(shop), install(other_shop)
    for app in (one, two, elsewhere):
        register(app, HOOK)
    register(one, HOOK, "order.paid")
    event = emit(shop)
    now = clock.now()
    dispatch(now)
    assert of_events() == {(one.installation.pk, "order.placed"): 1, (two.installation.pk, "order.placed"): 1}
    row = Delivery.objects.filter(kind="event").first()
    assert (row.event, row.message_id, row.status, row.due_at) == (event, event.public_id, "pending", now)


def test_the_position_is_written_last_since_all_announcers_wait_for_its_row(shop, monkeypatch):
    register(install(shop), HOOK)
    emit(shop)
    seen = []
    created = Delivery.objects.filter(kind="event")
    monkeypatch.setattr(dispatching.positions, "record", lambda shops: seen.append((shops, created.count())))
    dispatch(clock.now())
    assert seen == [([shop.pk], 1)]


def test_nothing_is_dispatched_twice(shop):
    register(install(shop), HOOK)
    emit(shop)
    assert [dispatch(clock.now()) for _ in range(2)] == [1, 0]
    assert Delivery.objects.filter(kind="event").count() == 1


@pytest.mark.rule("R-HOOK-21")
def test_an_uninstall_is_not_delivered_to_other_apps(shop):
    register(install(shop), HOOK, "app.uninstalled")
    emit(shop, "app.uninstalled")
    assert dispatch(clock.now()) == 1
    assert not Delivery.objects.filter(kind="event").exists()


def test_a_shop_with_many_events_does_not_delay_other_shops(shop, other_shop, monkeypatch):
    monkeypatch.setattr(dispatching, "MAX_EVENTS", 2)
    monkeypatch.setattr(dispatching, "MAX_SHOPS", 1)
    for _ in range(5):
        emit(shop)
    emit(other_shop)
    assert dispatch(clock.now()) == 3
    assert (sequences(shop), sequences(other_shop)) == ([1, 2, None, None, None], [1])
    assert [dispatch(clock.now()) for _ in range(3)] == [2, 1, 0]
    assert sequences(shop) == [1, 2, 3, 4, 5]


@pytest.mark.rule("R-HOOK-7", "R-HOOK-6")
def test_an_event_whose_transaction_was_rolled_back_leaves_no_gap(shop):
    emit(shop)
    with transaction.atomic():
        emit(shop)
        transaction.set_rollback(True)
    emit(shop)
    dispatch(clock.now())
    assert sequences(shop) == [1, 2]


@pytest.mark.slow
@pytest.mark.rule("R-HOOK-7")
@pytest.mark.django_db(transaction=True)
def test_concurrent_dispatch_leaves_no_gaps_and_no_duplicates(shop, other_shop):
    for where in (shop, other_shop):
        register(install(where), HOOK)
    over, seen = Flag(), []

    def write() -> None:
        for _ in range(25):
            for where in (shop, other_shop):
                with transaction.atomic():
                    emit(where)

    def write_all() -> None:
        try:
            run_concurrently(*[write] * 4)
        finally:
            over.set()

    def work() -> None:
        while not over.is_set() or Event.objects.filter(sequence=None).exists():
            dispatch(clock.now())

    def read() -> None:
        """Reads the feed like an app: no event appears before one that was already read."""
        last = 0
        while not over.is_set() or Event.objects.filter(sequence=None).exists():
            rows = Event.objects.filter(shop=shop, sequence__gt=last).order_by("sequence")
            page = list(rows.values_list("sequence", flat=True))
            seen.extend(page)
            last = page[-1] if page else last

    run_concurrently(write_all, work, work, work, read)
    for where in (shop, other_shop):
        assert sorted(sequences(where)) == list(range(1, 101))
        assert Feed.objects.get(shop=where).last_sequence == 100
    assert seen == list(range(1, len(seen) + 1))
    assert sum(of_events().values()) == 200


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_webhook_removed_during_dispatch_leaves_no_pending_delivery(shop):
    for _ in range(10):
        app = install(shop, "write_webhooks")
        register(app, HOOK)
        for _ in range(5):
            emit(shop)
        _, removed = run_concurrently(
            lambda: dispatch(clock.now()), lambda app=app: app.api.delete("/webhooks/order.placed").status_code
        )
        assert removed == 200
        assert not Delivery.objects.filter(installation=app.installation, kind="event", status="pending").exists()

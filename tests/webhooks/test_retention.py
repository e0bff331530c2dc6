"""Events, deliveries and attempts are deleted after EVENT_DAYS."""

from datetime import timedelta

import pytest

from storefront.kit import clock
from storefront.server.worker.sweeps import SWEEPS
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Event
from tests.webhooks.factories import emit, listener, register


def sweep() -> None:
    for each in SWEEPS:
        if each.name in ("old deliveries", "old events"):
            each.run(now=clock.now())


@pytest.mark.rule("R-HOOK-19")
def test_deletes_old_rows_and_the_sequence_continues(shop, settings):
    settings.EVENT_DAYS = 90
    app = listener(shop)
    register(app, "https://app.example.com/hook")
    for days in (91, 89):
        emit(shop, now=clock.now() - timedelta(days=days))
        dispatch(clock.now() - timedelta(days=days))
    for row in Delivery.objects.all():
        Attempt.objects.create(shop=shop, delivery=row, number=1, started_at=row.due_at, duration_ms=1, status=200)
    sweep()
    assert list(Event.objects.values_list("sequence", flat=True)) == [2]
    assert [row.event.sequence for row in Delivery.objects.all()] == [2]
    assert [row.delivery.event.sequence for row in Attempt.objects.all()] == [2]
    emit(shop)
    dispatch(clock.now())
    answer = app.api.get("/events").json()
    assert ([event["sequence"] for event in answer["events"]], answer["next_after"]) == ([2, 3], 3)


@pytest.mark.rule("R-HOOK-19")
def test_the_retention_is_a_setting(shop, settings):
    settings.EVENT_DAYS = 40
    emit(shop, now=clock.now() - timedelta(days=45))
    dispatch(clock.now())
    sweep()
    assert not Event.objects.exists()

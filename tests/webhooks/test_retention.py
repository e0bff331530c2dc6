"""Events, deliveries and their tries are kept for so many days, and no longer."""

from datetime import timedelta

from storefront.kit import clock
from storefront.server.sweeps import SWEEPS
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Event
from tests.factories.apps import install
from tests.webhooks.factories import happen, register


def sweep() -> None:
    for each in SWEEPS:
        if each.name in ("old deliveries", "old events"):
            each.run(now=clock.now())


def test_what_is_older_is_deleted_and_the_feed_goes_on_counting(shop, settings):
    settings.EVENT_DAYS = 90
    app = install(shop)
    Delivery.objects.all().delete()
    register(app, "https://app.example.com/hook")
    for days in (91, 89):
        happen(shop, now=clock.now() - timedelta(days=days))
        dispatch(clock.now() - timedelta(days=days))
    for row in Delivery.objects.all():
        Attempt.objects.create(shop=shop, delivery=row, number=1, started_at=row.due_at, duration_ms=1, status=200)
    sweep()
    assert list(Event.objects.values_list("sequence", flat=True)) == [2]
    assert [row.event.sequence for row in Delivery.objects.all()] == [2]
    assert [row.delivery.event.sequence for row in Attempt.objects.all()] == [2]
    happen(shop)
    dispatch(clock.now())
    answer = app.api.get("/events").json()
    assert ([event["sequence"] for event in answer["events"]], answer["next_after"]) == ([2, 3], 3)


def test_how_long_is_a_setting(shop, settings):
    settings.EVENT_DAYS = 7
    happen(shop, now=clock.now() - timedelta(days=8))
    dispatch(clock.now())
    sweep()
    assert not Event.objects.exists()

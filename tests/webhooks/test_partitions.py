"""Events, deliveries and attempts in partitions: what goes with a partition, and what stays."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.db import transaction

from storefront.audit.queries import ENTRIES, delete_old_entries
from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.shops.models import AuditEntry
from storefront.webhooks import claiming, replaying
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.jobs import ATTEMPTS, DELIVERIES, EVENTS, delete_old_deliveries, delete_old_events
from storefront.webhooks.models import Attempt, Delivery, Event
from tests.partitions import made_since, run
from tests.races import run_concurrently
from tests.webhooks.factories import emit, listener, register

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has no partitions"),
    pytest.mark.django_db(transaction=True),
]
DAY = timedelta(days=1)
HOOK = "https://app.example.com/hook"


@pytest.fixture(autouse=True)
def past(settings):
    settings.EVENT_DAYS = 90
    with ExitStack() as stack:
        for divided in (EVENTS, DELIVERIES, ATTEMPTS):
            stack.enter_context(made_since(divided, 200))
        yield
        run("DELETE FROM webhooks_attempt", "DELETE FROM webhooks_delivery", "DELETE FROM webhooks_event")


def happened(shop, days: int) -> Event:
    """An event of so many days ago, dispatched and attempted then."""
    at = clock.now() - days * DAY
    event = emit(shop, now=at)
    dispatch(at)
    for row in Delivery.objects.filter(event=event):
        Attempt.objects.create(shop=shop, delivery=row, number=1, started_at=at, duration_ms=1, status=200)
    event.refresh_from_db()
    return event


def test_old_events_go_with_their_deliveries_and_attempts_and_others_stay(shop, other_shop):
    for owner in (shop, other_shop):
        register(listener(owner), HOOK)
    for days in (190, 150, 89, 1):
        for owner in (shop, other_shop):
            happened(owner, days)
    now = clock.now()
    assert delete_old_deliveries(now=now, limit=100) > 0
    assert delete_old_events(now=now, limit=100) > 0
    assert sorted(Event.objects.values_list("shop", "sequence")) == [
        (o.pk, n) for o in (shop, other_shop) for n in (3, 4)
    ]
    assert Delivery.objects.count() == Attempt.objects.count() == 4
    # The numbers go on.
    assert happened(shop, 0).sequence == 5


def test_a_replay_of_an_event_goes_with_the_event(shop):
    app = listener(shop)
    old, young = happened(shop, 190), happened(shop, 1)
    registration = register(app, HOOK)
    with transaction.atomic():
        replaying._send_again([old.pk, young.pk], registration, clock.now() - 2 * DAY)
    for row in Delivery.objects.all():
        Attempt.objects.create(shop=shop, delivery=row, number=1, started_at=clock.now(), duration_ms=1, status=200)
    delete_old_events(now=clock.now(), limit=100)
    assert list(Delivery.objects.values_list("event", flat=True)) == [young.pk]
    assert Attempt.objects.count() == 1


def test_late_attempts_go_with_their_delivery(shop):
    register(listener(shop), HOOK)
    happened(shop, 190)
    row = Delivery.objects.get()
    Attempt.objects.create(shop=shop, delivery=row, number=2, started_at=clock.now(), duration_ms=1, status=200)
    delete_old_deliveries(now=clock.now(), limit=100)
    assert (Delivery.objects.count(), Attempt.objects.count()) == (0, 0)


def test_a_delivery_whose_event_was_dropped_meanwhile_is_cancelled_and_not_sent(shop):
    app = listener(shop)
    registration = register(app, HOOK)
    event = happened(shop, 1)
    Delivery.objects.update(due_at=clock.now())
    run(f"DELETE FROM webhooks_event WHERE id = {event.pk}")
    assert claiming.claim({registration.receiver: 5}, lease="one", now=clock.now()) == []
    row = Delivery.objects.get()
    assert (row.status, row.lease) == ("cancelled", None)
    with pytest.raises(replaying.NotReplayable):
        replaying.replay_delivery(shop=shop, installation_id=app.installation.pk, delivery_id=row.pk, now=clock.now())


def test_dispatch_and_retention_at_once_lose_no_event(shop, other_shop):
    for owner in (shop, other_shop):
        register(listener(owner), HOOK)
        happened(owner, 190)
    events = [emit(owner) for owner in (shop, other_shop) for _ in range(20)]
    now = clock.now()
    run_concurrently(
        lambda: dispatch(now), lambda: delete_old_events(now=now, limit=100), lambda: dispatch(now),
        lambda: delete_old_deliveries(now=now, limit=100), lambda: [emit(shop) for _ in range(20)],
    )  # fmt: skip
    while dispatch(now):
        pass
    for _ in range(2):
        delete_old_deliveries(now=now, limit=100)
        delete_old_events(now=now, limit=100)
    assert sorted(Event.objects.filter(shop=shop).values_list("sequence", flat=True)) == list(range(2, 42))
    assert sorted(Event.objects.filter(shop=other_shop).values_list("sequence", flat=True)) == list(range(2, 22))
    assert Delivery.objects.filter(event__in=events).count() == 40
    assert Delivery.objects.count() == 60


def test_an_entry_that_is_kept_for_longer_holds_its_partition(shop):
    with made_since(ENTRIES, 100):
        now = clock.now()
        given = {"shop": shop, "at": now - 95 * DAY, "actor_kind": "worker", "action": "product.updated"}
        for days in (-60, 1):
            AuditEntry.objects.create(**given, keep_until=(now + days * DAY).date())
        before = len(ENTRIES.partitions())
        delete_old_entries(now=now, limit=100)
        assert AuditEntry.objects.filter(at=given["at"]).count() == 2
        delete_old_entries(now=now + 300 * DAY, limit=100)
        assert AuditEntry.objects.filter(at=given["at"]).count() == 2
        run_without_triggers("UPDATE shops_auditentry SET keep_until = '2020-01-01'")
        delete_old_entries(now=now, limit=100)
        assert not AuditEntry.objects.filter(at=given["at"]).exists()
        assert len(ENTRIES.partitions()) < before
        run_without_triggers("DELETE FROM shops_auditentry")


def run_without_triggers(statement: str) -> None:
    table = "ALTER TABLE shops_auditentry"
    run(f"{table} DISABLE TRIGGER USER", statement, f"{table} ENABLE TRIGGER USER")

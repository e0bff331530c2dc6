"""Workers lease due deliveries: no two get the same, and no receiver is delayed by the backlog of another."""

from datetime import timedelta

import pytest
from django.db import connection

from storefront.kit import clock
from storefront.webhooks import claiming
from storefront.webhooks.actions import resume_webhook
from storefront.webhooks.claiming import claim, due_receivers, find_work, release_held
from storefront.webhooks.dialect import dialect
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery, Registration
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.webhooks.factories import emit, listener, register

HOOK = "https://app.example.com/hook"


@pytest.fixture
def app(shop):
    return listener(shop, "read_orders")


def due(shop, count: int) -> int:
    """Create this many due deliveries. Returns their receiver."""
    for _ in range(count):
        emit(shop)
    dispatch(clock.now())
    return Delivery.objects.values_list("receiver", flat=True).first()


def ids(messages) -> list[int]:
    return [message.delivery_id for message in messages]


def test_a_leased_delivery_is_not_claimed_again_until_the_lease_ends(shop, app):
    register(app, HOOK)
    receiver, now = due(shop, 1), clock.now()
    first = claim({receiver: 5}, lease="one", now=now)
    assert len(first) == 1
    assert claim({receiver: 5}, lease="two", now=now) == []
    later = now + claiming.LEASE
    assert claim({receiver: 5}, lease="two", now=later - timedelta(seconds=1)) == []
    assert ids(claim({receiver: 5}, lease="two", now=later)) == ids(first)


def test_a_claim_takes_the_oldest_deliveries_up_to_the_receivers_slots(shop, app):
    register(app, HOOK)
    receiver = due(shop, 5)
    expected = list(Delivery.objects.order_by("due_at", "id").values_list("id", flat=True))
    # All were due at one moment, of which the order is nobody's promise.
    for hours, place in enumerate((3, 2, 1, 0, 4), 1):
        Delivery.objects.filter(pk=expected[place]).update(due_at=clock.now() - timedelta(hours=hours))
    assert sorted(ids(claim({receiver: 2}, lease="one", now=clock.now()))) == [expected[0], expected[4]]


def test_due_receivers_continues_after_the_last_receiver(shop, monkeypatch):
    for number in range(5):
        register(install(shop), f"https://{number}.example.com/")
    emit(shop)
    dispatch(clock.now())
    Delivery.objects.exclude(kind="event").delete()
    monkeypatch.setattr(claiming, "MAX_RECEIVERS", 2)
    found, after = [], -1
    for _ in range(3):
        some, after = due_receivers(clock.now(), after=after)
        found += some
    assert (sorted(found), after) == (sorted(set(Delivery.objects.values_list("receiver", flat=True))), -1)


def test_a_delivery_due_later_is_not_work(shop, app):
    register(app, HOOK)
    due(shop, 1)
    now = clock.now()
    Delivery.objects.update(due_at=now + timedelta(minutes=5))
    assert (due_receivers(now), find_work(now)) == (([], -1), (False, False, False))


@pytest.mark.django_db(transaction=True)
def test_concurrent_workers_never_claim_the_same_delivery(shop, app):
    register(app, HOOK)
    receiver, now = due(shop, 60), clock.now()
    taken: list[int] = []

    def work_as(lease: str) -> None:
        while messages := claim({receiver: 3}, lease=lease, now=now):
            taken.extend(ids(messages))

    run_concurrently(*(lambda lease=lease: work_as(lease) for lease in "abcd"))
    assert len(taken) == len(set(taken)) == 60


@pytest.mark.rule("R-HOOK-13")
def test_deliveries_of_a_paused_webhook_are_held_until_it_is_resumed(shop, app):
    registration = register(app, HOOK)
    receiver, now = due(shop, 3), clock.now()
    Registration.objects.update(is_active=False, paused_at=now)
    assert claim({receiver: 5}, lease="one", now=now) == []
    assert set(Delivery.objects.values_list("status", "lease")) == {("held", None)}
    assert find_work(now) == (False, False, False)
    resume_webhook(shop=shop, registration=registration, now=now)
    assert find_work(now) == (False, False, True)
    assert release_held(now) == 3
    assert find_work(now) == (False, True, False)
    assert len(claim({receiver: 5}, lease="one", now=now)) == 3


def test_webhooks_that_hold_nothing_take_no_turn_from_those_that_do(shop, app, monkeypatch):
    monkeypatch.setattr(claiming, "BATCH_ROWS", 1)
    register(install(shop), HOOK)
    paused = register(app, HOOK)
    due(shop, 1)
    receiver, now = Delivery.objects.get(registration=paused).receiver, clock.now()
    Registration.objects.filter(pk=paused.pk).update(is_active=False)
    claim({receiver: 5}, lease="one", now=now)
    resume_webhook(shop=shop, registration=paused, now=now)
    assert release_held(now) == 1


def test_pending_deliveries_go_to_the_new_address_after_registering_again(shop, app):
    register(app, HOOK)
    receiver = due(shop, 1)
    register(app, "https://elsewhere.example.com/hook")
    (message,) = claim({receiver: 5}, lease="one", now=clock.now())
    assert message.address == "https://elsewhere.example.com/hook"


@pytest.mark.django_db(transaction=True)
def test_no_delivery_stays_held_if_its_webhook_is_resumed_during_a_claim(shop, app):
    registration = register(app, HOOK)
    for _ in range(10):
        receiver, now = due(shop, 3), clock.now()
        Registration.objects.update(is_active=False)
        run_concurrently(
            lambda receiver=receiver, now=now: claim({receiver: 5}, lease="one", now=now),
            lambda now=now: resume_webhook(shop=shop, registration=registration, now=now),
        )
        release_held(now)
        assert not Delivery.objects.filter(status="held").exists()
        Delivery.objects.all().delete()


def test_finding_receivers_does_not_read_the_backlog_of_one(shop, app):
    """Queries that run many times a second use the partial indexes over unfinished rows."""
    register(app, HOOK)
    due(shop, 200)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
    now = claiming._to_db_time(clock.now())
    given = {"now": now, "after": -1, "most": 10, "receiver": 1, "lease": "x", "until": now, "slots": '{"1": 10}'}
    for statement in (claiming._WORK, claiming._DUE, dialect._CLAIM):
        with connection.cursor() as cursor:
            explain = "EXPLAIN " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
            cursor.execute(explain + statement, given)
            plan = " ".join(str(row) for row in cursor.fetchall())
        assert "delivery_of_receiver" in plan or "delivery_due" in plan
        assert "Seq Scan on webhooks_delivery" not in plan
        assert "SCAN webhooks_delivery'" not in plan


def test_a_worker_whose_lease_has_ended_releases_nothing(shop, app):
    register(app, HOOK)
    receiver, now = due(shop, 1), clock.now()
    (message,) = claim({receiver: 5}, lease="one", now=now)
    later = now + claiming.LEASE
    assert ids(claim({receiver: 5}, lease="two", now=later)) == [message.delivery_id]
    claiming.release_leases([message.delivery_id], lease="one", now=later)
    assert Delivery.objects.values_list("lease", "due_at").get() == ("two", later + claiming.LEASE)
    claiming.release_leases([message.delivery_id], lease="two", now=later)
    assert Delivery.objects.values_list("lease", "due_at").get() == (None, later)


def test_a_release_leaves_other_deliveries_and_those_that_ended_meanwhile(shop, app):
    register(app, HOOK)
    receiver, now = due(shop, 3), clock.now()
    ended, released, kept = ids(claim({receiver: 5}, lease="one", now=now))
    Delivery.objects.filter(pk=ended).update(status=Delivery.Status.CANCELLED)
    claiming.release_leases([ended, released], lease="one", now=now)
    assert dict(Delivery.objects.values_list("pk", "lease")) == {ended: "one", released: None, kept: "one"}


def test_each_delivery_that_was_read_without_the_key_waits_for_it(shop, app, settings, monkeypatch):
    monkeypatch.setattr(claiming, "BATCH_ROWS", 1)
    register(app, HOOK)
    mine = due(shop, 3)
    settings.SECRET_KEY = "n" * 50
    now = clock.now()
    assert claim({mine: 3}, lease="one", now=now) == []
    assert set(Delivery.objects.values_list("lease", "due_at")) == {(None, now + claiming.KEY_WAIT)}


def test_deliveries_that_cannot_be_signed_wait_for_the_key_and_others_do_not(shop, other_shop, app, settings):
    register(app, HOOK)
    mine = due(shop, 2)
    # Another key, as after a restore with the wrong one. What is installed from then on is readable.
    settings.SECRET_KEY, right = "n" * 50, settings.SECRET_KEY
    register(install(other_shop, "read_orders"), HOOK)
    Delivery.objects.filter(shop=other_shop).delete()
    due(other_shop, 2)
    theirs, now = list(Delivery.objects.filter(shop=other_shop).order_by("due_at", "id")), clock.now()
    receiver = theirs[0].receiver
    assert ids(claim({mine: 1, receiver: 1}, lease="one", now=now)) == [theirs[0].pk]
    # The one that was read, and the one behind it: no attempt is counted.
    waiting = Delivery.objects.filter(receiver=mine).values_list("status", "lease", "tries", "due_at")
    assert list(waiting) == [("pending", None, 0, now + claiming.KEY_WAIT)] * 2
    assert due_receivers(now) == ([receiver], -1)
    settings.SECRET_KEY = right
    later = now + claiming.KEY_WAIT
    assert claim({mine: 2}, lease="one", now=later - timedelta(seconds=1)) == []
    assert len(claim({mine: 2}, lease="one", now=later)) == 2

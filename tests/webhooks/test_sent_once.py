"""A message that was answered with 200 is not sent again, even if the database delays the loop, is disconnected, or has
lost a row meanwhile. A worker's real loop calls over a real socket."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from aiohttp import web
from django.db import OperationalError, connection, transaction

from storefront.kit import clock
from storefront.webhooks import claiming
from storefront.webhooks import delivering as loop
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Attempt, Delivery, Event
from tests.receiver import Receiver, receiving
from tests.webhooks.factories import delivering, emit, listener, register, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def app(shop):
    return listener(shop)


@contextmanager
def dispatch_waiting(shop, monkeypatch) -> Iterator[None]:
    """The loop dispatches an event, and waits for a lock until the `with` block ends."""
    begun = threading.Event()
    monkeypatch.setattr(loop, "dispatch", lambda now: (begun.set(), dispatch(now)))
    while True:
        begun.clear()
        emit(shop)
        with transaction.atomic():
            # On SQLite the transaction itself is a lock.
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("LOCK TABLE webhooks_feed IN ACCESS EXCLUSIVE MODE")
            # Try again if the loop was quicker.
            if Event.objects.filter(sequence=None).exists():
                assert begun.wait(5)
                yield
                return


def all_delivered() -> bool:
    undispatched = Event.objects.filter(sequence=None).exists()
    return not undispatched and not Delivery.objects.exclude(status="delivered").exists()


def sent(receiver: Receiver) -> set[int]:
    """The numbers of times that messages were received."""
    counts: Counter[str] = Counter()
    while not receiver.received.empty():
        counts[receiver.next().headers["webhook-id"]] += 1
    return set(counts.values())


def test_sends_once_if_a_lease_ends_while_the_database_blocks_the_loop(shop, app, monkeypatch):
    monkeypatch.setattr(claiming, "LEASE", timedelta(seconds=3))
    monkeypatch.setattr(loop, "TOTAL", 2.5)
    with receiving() as receiver, delivering():
        receiver.hold()
        register(app, receiver.url)
        emit(shop)
        wait_until(lambda: not receiver.received.empty())
        lease_ends = Delivery.objects.get().due_at
        with dispatch_waiting(shop, monkeypatch):
            receiver.let_go()
            wait_until(lambda: clock.now() > lease_ends)
        wait_until(all_delivered)
    assert sent(receiver) == {1}


def test_records_an_answer_that_came_during_the_search_for_work(shop, app, monkeypatch):
    """Without other due work, which would end the search as well: the same delivery is due when its lease ends."""
    monkeypatch.setattr(claiming, "LEASE", timedelta(seconds=4))
    monkeypatch.setattr(loop, "TOTAL", 3.5)
    look = claiming.find_work

    def look_until_answered(now):
        found = look(now)
        if deliverer.calls:
            receiver.let_go()
            wait_until(lambda: deliverer.ended and not deliverer.calls)
        return found

    with receiving() as receiver:
        receiver.hold()
        register(app, receiver.url)
        with delivering() as deliverer:
            monkeypatch.setattr(claiming, "find_work", look_until_answered)
            emit(shop)
            wait_until(lambda: not receiver.received.empty())
            lease_ends = Delivery.objects.get().due_at
            wait_until(all_delivered)
    assert sent(receiver) == {1}
    assert Delivery.objects.get().ended_at < lease_ends


def test_records_an_answer_soon_after_a_long_turn(shop, app, monkeypatch):
    """Before the lease ends; after that another worker would send the message again."""
    monkeypatch.setattr(claiming, "LEASE", timedelta(seconds=6))
    monkeypatch.setattr(loop, "TOTAL", 5.0)
    with receiving() as receiver, delivering():
        receiver.hold()
        register(app, receiver.url)
        emit(shop)
        wait_until(lambda: not receiver.received.empty())
        with dispatch_waiting(shop, monkeypatch):
            locked = time.monotonic()
            wait_until(lambda: time.monotonic() > locked + 0.7)
        # The turn ends without a free slot for a second call to this receiver.
        wait_until(lambda: not Event.objects.filter(sequence=None).exists())
        with delivering():
            receiver.let_go()
            wait_until(all_delivered)
    assert sent(receiver) == {1}


def test_a_delivery_deleted_in_flight_does_not_prevent_recording_others(shop, other_shop, app):
    other = listener(other_shop)
    with receiving() as doomed, receiving() as receiver, delivering():
        for each in (doomed, receiver):
            each.hold()
        register(app, doomed.url)
        register(other, receiver.url)
        for each in (shop, other_shop):
            emit(each)
        for each in (doomed, receiver):
            wait_until(lambda each=each: not each.received.empty())
        Delivery.objects.filter(shop=shop).delete()
        for each in (doomed, receiver):
            each.let_go()
        wait_until(all_delivered)
    assert (sent(receiver), sent(doomed)) == ({1}, {1})
    assert [attempt.shop_id for attempt in Attempt.objects.all()] == [other_shop.pk]


@pytest.mark.parametrize(
    "text", ["Fri, 31 Dec 99999999999999999999 23:59:59 GMT", "9" * 5000, "\u00b2", ", 31 Dec 2026"]
)
def test_a_200_with_an_invalid_retry_after_is_a_success(shop, app, text):
    async def answer(request: web.Request) -> web.Response:
        return web.Response(headers={"Retry-After": text})

    with receiving(answer) as receiver, delivering():
        register(app, receiver.url)
        emit(shop)
        wait_until(all_delivered, seconds=10)
    assert sent(receiver) == {1}


def test_records_answers_when_the_loop_fails(shop, app, monkeypatch):
    look = claiming.find_work

    def look_or_break(now):
        if receiver.received.empty():
            return look(now)
        receiver.let_go()
        raise ValueError("a defect")

    monkeypatch.setattr(claiming, "find_work", look_or_break)
    with receiving() as receiver:
        receiver.hold()
        register(app, receiver.url)
        emit(shop)
        with pytest.raises(ValueError, match="a defect"):
            asyncio.run(loop.Deliverer().run())
    assert Delivery.objects.get().status == "delivered"


def test_records_answers_at_stop_after_the_database_comes_back(shop, app, monkeypatch):
    record_outcomes = loop.record_outcomes
    errors = iter([OperationalError("the connection is lost")] * 3)

    def record_after_errors(*args, **kwargs) -> None:
        for error in errors:
            raise error
        record_outcomes(*args, **kwargs)

    with receiving() as receiver, delivering() as deliverer:
        receiver.hold()
        register(app, receiver.url)
        emit(shop)
        wait_until(lambda: not receiver.received.empty())
        deliverer.stop()
        monkeypatch.setattr(loop, "record_outcomes", record_after_errors)
        receiver.let_go()
    assert Delivery.objects.get().status == "delivered"

"""Threads that write to SQLite take turns in the order in which they asked."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest
from django.db import OperationalError, connection, connections, transaction

from storefront.server.sqlite3.writers import WriterQueue, queue_of
from storefront.shops.models import Shop
from tests.races import run_concurrently
from tests.shops.factories import make_shop


def wait_for(condition) -> None:
    pause = Event()
    for _ in range(2000):
        if condition():
            return
        pause.wait(0.005)
    pytest.fail("waited too long")


def test_threads_get_their_turn_in_the_order_of_their_arrival():
    queue, order = WriterQueue(), []
    assert queue.acquire(1)

    def write(name: int) -> None:
        assert queue.acquire(10)
        order.append(name)
        queue.release()

    threads = [Thread(target=write, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        wait_for(lambda number=number: len(queue._waiting) == number)
    queue.release()
    for thread in threads:
        thread.join(10)
    assert order == list(range(8))
    assert queue.acquire(0)


def test_who_gave_up_waiting_is_passed_over():
    queue = WriterQueue()
    assert queue.acquire(1)
    assert not queue.acquire(0.01)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(queue.acquire, 10)
        wait_for(lambda: queue._waiting)
        queue.release()
        assert waiting.result()
    queue.release()
    assert queue.acquire(0)


on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has no queue of its own")


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_transaction_gives_its_turn_back_however_it_ends():
    queue = queue_of(connection.settings_dict["NAME"])
    with transaction.atomic():
        assert not queue.acquire(0)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        _ = 1 / 0
    with transaction.atomic():
        connection.close()
    assert queue.acquire(0)
    queue.release()


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_a_writer_that_waits_too_long_is_refused_as_by_sqlite():
    def wait_shortly() -> None:
        own = connections["default"]
        own.settings_dict = {**own.settings_dict, "OPTIONS": {**own.settings_dict["OPTIONS"], "timeout": 0.05}}
        try:
            with pytest.raises(OperationalError, match="database is locked"), transaction.atomic():
                pytest.fail("two transactions at once")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        threads.submit(wait_shortly).result()
    with transaction.atomic():
        assert Shop.objects.count() == 0


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_write_of_many_threads_is_lost():
    shop = make_shop()

    def write() -> None:
        for _ in range(20):
            with transaction.atomic():
                row = Shop.objects.select_for_update().get(pk=shop.pk)
                row.name = f"{row.name}+"
                row.save()

    run_concurrently(*[write] * 8)
    assert Shop.objects.get(pk=shop.pk).name.count("+") == 160

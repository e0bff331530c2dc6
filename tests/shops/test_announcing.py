"""On PostgreSQL, other processes learn of a change after its commit, from a thread that sends many at once."""

import time
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection, transaction

from storefront.shops import announcing, changes

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite counts changes in a table"),
]


@pytest.fixture
def heard() -> Iterator[psycopg.Connection]:
    announcing.flush()
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as listener:
        listener.execute(f"LISTEN {announcing.CHANNEL}")
        yield listener


def shops_of(heard: psycopg.Connection, *, until: int) -> list[int]:
    """The shops that were announced, up to and with this one."""
    shops = []
    for notification in heard.notifies(timeout=60):
        shops.append(int(notification.payload))
        if shops[-1] == until:
            break
    return shops


def test_a_change_is_announced_once_it_is_committed(heard):
    with transaction.atomic():
        changes.publish_change(1)
        assert announcing.flush(5)
        assert list(heard.notifies(timeout=0)) == []
    assert shops_of(heard, until=1) == [1]


def test_a_change_that_is_rolled_back_is_not_announced(heard):
    with transaction.atomic():
        changes.publish_change(1)
        transaction.set_rollback(True)
    changes.publish_change(2)
    assert shops_of(heard, until=2) == [2]


def test_many_changes_are_announced_together(heard):
    for shop in [*range(1, 50)] * 20:
        changes.publish_change(shop)
    changes.publish_change(99)
    shops = shops_of(heard, until=99)
    assert set(shops) == {*range(1, 50), 99}
    assert len(shops) < 500


def test_steady_changes_are_announced_at_intervals(heard):
    began = time.monotonic()
    while time.monotonic() - began < 0.5:
        changes.publish_change(1)
    changes.publish_change(2)
    statements = len(shops_of(heard, until=2))
    took = time.monotonic() - began
    assert 2 <= statements <= took / announcing.INTERVAL_SECONDS + 3


def test_changes_are_announced_after_the_connection_was_lost(heard):
    changes.publish_change(1)
    assert shops_of(heard, until=1) == [1]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name = %s"
            " AND datname = current_database()",
            [announcing.NAME],
        )
        assert cursor.fetchone() == (1,)
    changes.publish_change(2)
    assert shops_of(heard, until=2)[-1] == 2


def test_a_process_knows_its_own_notifications(heard):
    changes.publish_change(1)
    (own,) = heard.notifies(timeout=60, stop_after=1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, '2')", [announcing.CHANNEL])
    (other,) = heard.notifies(timeout=60, stop_after=1)
    assert (announcing.is_own(own.pid), announcing.is_own(other.pid)) == (True, False)


def test_a_stopped_announcer_has_sent_everything(heard):
    changes.publish_change(7)
    announcing.stop()
    assert shops_of(heard, until=7) == [7]
    changes.publish_change(8)
    assert shops_of(heard, until=8) == [8]

"""A session that is idle in a transaction holds up the change feed of all shops: ours are ended, others' are seen."""

import os

import psycopg
import pytest
from django.db import InternalError, connection, connections, transaction

from storefront.kit.database_errors import is_unavailable
from storefront.kit.direct import direct_copy
from storefront.server.metrics.horizon import Horizon
from storefront.server.waits import IDLE, bounded
from storefront.sync import log
from storefront.sync.dialect import dialect
from tests.catalogue.factories import make_product
from tests.server.programs import wait_until

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no sessions that could be idle"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def own():
    """A connection of its own, with a deadline of one second for idle transactions."""
    found = direct_copy(connections["default"])
    options = bounded(found.settings_dict["OPTIONS"] | {"options": ""}, **{IDLE: 1})
    found.settings_dict = {**found.settings_dict, "OPTIONS": options}
    yield found
    found.close()


def is_running(backend: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [backend])
        return bool(cursor.fetchone()[0])


def test_a_session_of_ours_that_is_idle_in_a_transaction_is_ended_and_the_feed_goes_on(own, shop):
    own.ensure_connection()
    backend = own.connection.info.backend_pid
    own.set_autocommit(False)
    with own.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")
    make_product(shop)
    held = log.horizon(shop)
    assert dialect.oldest_running() is not None
    wait_until(lambda: not is_running(backend), what="the end of the idle session")
    assert log.horizon(shop).position > held.position
    with pytest.raises(Exception) as raised, own.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert is_unavailable(raised.value), raised.value


def test_the_error_of_an_ended_session_is_a_database_that_is_away():
    error = InternalError("terminating connection due to idle-in-transaction timeout")
    error.__cause__ = psycopg.errors.IdleInTransactionSessionTimeout()
    assert is_unavailable(error)


def nothing_runs() -> bool:
    return dialect.oldest_running() is None


def test_the_age_of_the_horizon_is_that_of_the_oldest_transaction(shop):
    # The server's own work on its tables is a transaction, too.
    wait_until(nothing_runs, what="the end of other transactions")
    with psycopg.connect(**direct_copy(connections["default"]).get_connection_params()) as other:
        (own,) = other.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
        with transaction.atomic():
            # Later than the other's.
            make_product(shop)
            found, age = dialect.oldest_running()
        assert (found, age > 0) == (own, True)
        assert dialect.oldest_running()[1] > age
        other.rollback()
    wait_until(nothing_runs, what="the end of the oldest transaction")


def test_the_age_of_a_transaction_that_is_hidden_is_counted_from_when_it_was_seen():
    horizon = Horizon()
    assert horizon.age(None) == 0
    assert horizon.age((7, 0.0)) < (later := horizon.age((7, 0.0)))
    assert horizon.age((8, 0.0)) < later + 1
    assert horizon.age((8, 90.0)) == 90
    assert horizon.age(None) == 0


def test_the_deadline_is_a_setting():
    assert os.environ.get("STOREFRONT_IDLE_TRANSACTION_SECONDS") is None
    assert "idle_in_transaction_session_timeout=60s" in connections["default"].settings_dict["OPTIONS"]["options"]

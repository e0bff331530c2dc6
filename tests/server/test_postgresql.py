"""A connection to PostgreSQL is kept from request to request, and replaced when the server has closed it."""

from pathlib import Path

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from storefront.kit import sql
from storefront.server import environment
from tests.server.programs import free_port

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server that could go away"),
]


@pytest.fixture
def kept():
    """A connection as a web thread has it: its own, between two requests."""
    own = connections["default"].copy()
    options = {name: value for name, value in own.settings_dict["OPTIONS"].items() if name != "pool"}
    own.settings_dict = {**own.settings_dict, "OPTIONS": options, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    own.ensure_connection()
    yield own
    own.close()


def begin_request(kept):
    kept.close_if_unusable_or_obsolete()


def backend(kept):
    with kept.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def test_an_open_connection_is_kept_without_a_query(kept):
    before = backend(kept)
    begin_request(kept)
    with CaptureQueriesContext(kept) as asked:
        assert backend(kept) == before
    assert len(asked) == 1


def test_a_request_after_the_server_closed_the_connection_gets_another_one(kept):
    before = backend(kept)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [before])
        assert cursor.fetchone() == (True,)
    begin_request(kept)
    assert backend(kept) != before


def test_a_hand_written_statement_may_be_the_first_after_the_server_closed_the_connection(kept, monkeypatch):
    before = backend(kept)
    monkeypatch.setattr(sql, "unwrapped", lambda _: kept)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [before])
    begin_request(kept)
    ((after,),) = sql.fetch(kept, "SELECT pg_backend_pid()", {})
    assert after != before


def test_a_connection_goes_to_the_host_that_answers(monkeypatch):
    host, port = (connection.settings_dict[name] for name in ("HOST", "PORT"))
    user, name = (connection.settings_dict[name] for name in ("USER", "NAME"))
    url = f"postgres://{user}@127.0.0.1:{free_port()},{host}:{port or 5432}/{name}?target_session_attrs=read-write"
    monkeypatch.setenv("DATABASE_URL", url)
    own = connection.copy()
    own.settings_dict = {**own.settings_dict, **environment.database(Path())}
    own.settings_dict["PASSWORD"] = connection.settings_dict["PASSWORD"]
    try:
        assert backend(own) != backend(connection)
        assert own.connection.info.port == int(port or 5432)
    finally:
        own.close()

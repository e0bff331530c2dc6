"""What rooms need of PostgreSQL beside their own SQL."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection as current
from django.db.models import Q

from storefront.kit.direct import direct_copy

# Functions that make a JSON array of rows, and of the values of one.
JSON_ROWS, JSON_ROW = "json_agg", "json_build_array"
# True if a WITH can write, so that several tables are written by one statement.
WRITES_IN_WITH = True
# Clauses that lock the rows of a SELECT.
SKIP_LOCKED, KEY_SHARE = " FOR UPDATE SKIP LOCKED", " FOR KEY SHARE OF {}"
# A parameter that is a moment, where its type is not clear from the statement.
MOMENT = "CAST(%s AS timestamptz)"
# Key of the advisory lock of migrations, in the database that is migrated.
MIGRATION_LOCK = 7_160_231


def limit_lock_wait(wait: str) -> None:
    """Bound how long the transaction's statements wait for locks, in a text such as `10s`."""
    with current.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{wait}'")


def chosen_to_write(rows: str) -> str:
    """The condition that a column is among these rows, which the statement writes, without those that others have
    locked. An array, so that the rows are chosen once, whatever plan the rest gets."""
    return f"= ANY (ARRAY({rows} FOR UPDATE SKIP LOCKED))"


def begins_with(column: str, word: str) -> Q:
    """The condition that a column begins with the word, by its index for LIKE: others compare by the collation."""
    return Q(**{f"{column}__startswith": word})


def prepared_cursor(connection: Any) -> Any:
    """A cursor that has the server prepare statements that are repeated."""
    # The server may have been restarted since the last request. Django does the same before its own cursors.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    # Wrapped as Django's own cursors are, so that logs and query counts include it.
    return connection._prepare_cursor(_server_bound()(connection.connection))


@cache
def _server_bound() -> Any:
    from django.db.backends.postgresql.base import ServerBindingCursor

    class Cursor(ServerBindingCursor):
        """Records a prepared statement's text, too, where Django's query log looks for it."""

        def _send_query_prepared(self, name: bytes, pgq: Any, **given: Any) -> None:
            self._query = pgq
            super()._send_query_prepared(name, pgq, **given)  # type: ignore[misc]

    return Cursor


def existing_triggers(connection: Any) -> dict[str, str]:
    """The definitions of the existing triggers, and of functions for them, by kind and name."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 'function ' || proname, pg_get_functiondef(oid) FROM pg_proc"
            " WHERE pronamespace = current_schema()::regnamespace"
            " AND prorettype IN ('trigger'::regtype, 'void'::regtype)"
            " AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql')"
            " UNION ALL SELECT 'trigger ' || tgname, pg_get_triggerdef(oid, true) FROM pg_trigger"
            " WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgparentid = 0"
        )
        return dict(cursor.fetchall())


def dropping(kind: str, name: str) -> str:
    """The statement that removes a function with its triggers if it exists. Triggers go with their functions."""
    return f"DROP FUNCTION IF EXISTS {name} CASCADE" if kind == "function" else ""


@contextmanager
def migration_lock(connection: Any) -> Iterator[Callable[[], bool]]:
    """Yields what tries to take the lock of migrations, on a connection of its own: migrations open and close
    transactions on theirs."""
    own = direct_copy(connection)

    def try_to_take() -> bool:
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [MIGRATION_LOCK])
            return bool(cursor.fetchone()[0])

    try:
        yield try_to_take
    finally:
        own.close()


def database_files(connection: Any) -> list[Path]:
    """Files of the database that this machine has: none."""
    return []

"""What copying needs of PostgreSQL as the source."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from storefront.server.archive.tables import Table, all_tables

_MAX_WAIT_SECONDS = 30


@contextmanager
def without_writers() -> Iterator[None]:
    """Lets nothing be written to the source inside the block; others can read. Waits for running writers, and raises
    OperationalError if they take longer than 30 s."""
    names = ", ".join(connection.ops.quote_name(table._meta.db_table) for table in all_tables())
    with snapshot(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{_MAX_WAIT_SECONDS}s'")
        # The snapshot is taken by the first read after this.
        cursor.execute(f"LOCK TABLE {names} IN SHARE MODE")
        yield


@contextmanager
def snapshot() -> Iterator[None]:
    """Shows one state of the database inside the block. Others can write."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        # Between two statements, files are compressed, and the other database checks its keys.
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield


def last_id(table: Table) -> int:
    """The highest id that the table ever gave, so that none is used a second time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass)",
            [table._meta.db_table, table._meta.pk.column],
        )
        return cursor.fetchone()[0] or 0


def send(rows: QuerySet, copy: Any) -> None:
    """Write the rows to a COPY of another PostgreSQL database, in blocks as this one sends them."""
    statement, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor, cursor.copy(f"COPY ({statement}) TO STDOUT", parameters) as blocks:
        for block in blocks:
            copy.write(block)


def transaction_id() -> str:
    """The number of the running transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        return cursor.fetchone()[0]


def has_ended(transaction_id: str) -> bool:
    """Returns False while the transaction runs. Raises DatabaseError for a number that is unknown."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_xact_status(%s::xid8) IN ('committed', 'aborted')", [transaction_id])
        return bool(cursor.fetchone()[0])

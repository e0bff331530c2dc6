"""What copying needs of SQLite as the source."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from storefront.server.archive.tables import Table

# Rows that are in memory at once.
_ROWS = 500


@contextmanager
def without_writers() -> Iterator[None]:
    """Lets nothing be written to the source inside the block: transactions begin with the write lock."""
    with transaction.atomic():
        yield


@contextmanager
def snapshot() -> Iterator[None]:
    """Shows one state of the database inside the block, for reading only. Others can write."""
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        # Not by Django, whose transactions begin with the write lock.
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def last_id(table: Table) -> int:
    """The highest id that the table ever gave, so that none is used a second time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = %s", [table._meta.db_table])
        return cursor.fetchone()[0] or 0


def send(rows: QuerySet, copy: Any) -> None:
    """Write the rows to a COPY of PostgreSQL, which reads SQLite's values as texts of its own types."""
    statement, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        while found := cursor.fetchmany(_ROWS):
            for row in found:
                copy.write_row(row)


def transaction_id() -> str:
    """SQLite has no numbers of transactions."""
    return ""


def has_ended(transaction_id: str) -> bool:
    """Returns True: a transaction of SQLite ends with its connection."""
    return True

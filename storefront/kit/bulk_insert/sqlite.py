"""What inserting many rows needs of SQLite."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from django.db import connection

# The page cache in KiB, and the number of pages in the write-ahead log before a checkpoint. Both are raised during bulk
# writes, since these change index pages all over the file, and many pages again with the next batch.
CACHE_KIB, LOG_PAGES = 64_000, 32_000
# Value of PRAGMA temp_store: the statement journal stays in memory.
TEMP_STORE_MEMORY = 2
# Rows of one statement of SQLite, which for each statement looks for every table that the triggers write to in its list
# of sequences.
_ROWS = 20

NULL = None


@contextmanager
def bulk_write_pragmas() -> Iterator[None]:
    """Give this thread's connection a larger cache and log inside the block. Does nothing within a transaction, where
    SQLite does not accept all of these."""
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        previous = {}
        for name, wanted in (
            ("cache_size", -CACHE_KIB),
            ("wal_autocheckpoint", LOG_PAGES),
            ("temp_store", TEMP_STORE_MEMORY),
        ):
            cursor.execute(f"PRAGMA {name}")
            (previous[name],) = cursor.fetchone()
            cursor.execute(f"PRAGMA {name} = {wanted}")
        try:
            yield
        finally:
            for name, value in previous.items():
                cursor.execute(f"PRAGMA {name} = {value}")
            cursor.execute("PRAGMA shrink_memory")


def allocate_ids(table: str, column: str, count: int) -> Sequence[int]:
    """`count` unused ids, in ascending order. The caller must hold the write lock until they are used."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0] or 0
    return range(last + 1, last + 1 + count)


def encoder(field: Any) -> Callable[[Any], Any]:
    """Encodes the field's values as rows are packed with them."""
    return partial(field.get_db_prep_save, connection=connection)


def packed(values: Sequence[Any]) -> tuple[Any, ...]:
    """A row of encoded values."""
    return tuple(values)


def insert(table: str, later: Sequence[Any], rows: Sequence[tuple[tuple[Any, ...], Any]]) -> None:
    """Insert packed rows into the table, which is its name with its columns. `later` are the fields of the first
    columns, whose values come beside each packed row."""
    values = [first + rest for first, rest in rows]
    row = f"({', '.join(['%s'] * len(values[0]))})"
    insert_row, alone = f"INSERT INTO {table} VALUES {row}", len(values) % _ROWS  # noqa: S608, built from names only
    joined = (tuple(chain.from_iterable(values[start : start + _ROWS])) for start in range(alone, len(values), _ROWS))
    with connection.cursor() as cursor:
        cursor.executemany(insert_row, values[:alone])
        cursor.executemany(insert_row + f", {row}" * (_ROWS - 1), joined)  # type: ignore[arg-type]

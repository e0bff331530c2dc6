"""Inserts many rows: by executemany on SQLite, by COPY on PostgreSQL. Several times faster than bulk_create."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import orjson
from django.db import connection, models

# SQLite's page cache in KiB, and the number of pages in its write-ahead log before a checkpoint. Both are raised during
# bulk writes, since these change index pages all over the file, and many pages again with the next batch.
CACHE_KIB, LOG_PAGES = 64_000, 32_000
# Value of PRAGMA temp_store: the statement journal stays in memory.
TEMP_STORE_MEMORY = 2


@contextmanager
def bulk_write_pragmas() -> Iterator[None]:
    """Give this thread's SQLite connection a larger cache and log inside the block. Does nothing on PostgreSQL, and
    nothing within a transaction, where SQLite does not accept all of these pragmas."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
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


def allocate_ids(model: type[models.Model], count: int) -> range | list[int]:
    """`count` unused ids, in ascending order. On SQLite the caller must hold the write lock until they are used."""
    if not count:
        return []
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The sequence's name is looked up once, not for each id.
            cursor.execute(
                "SELECT array_agg(nextval(named.sequence)) FROM (SELECT pg_get_serial_sequence(%s, %s)::regclass AS"
                " sequence OFFSET 0) named, generate_series(1, %s)",
                [table, column, count],
            )
            return list(cursor.fetchone()[0])
        cursor.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0] or 0
        return range(last + 1, last + 1 + count)


class BulkTable:
    """A model's columns, their defaults, and the statement that inserts rows."""

    def __init__(self, model: type[models.Model]) -> None:
        self.model = model
        self.table = connection.ops.quote_name(model._meta.db_table)
        self.names = {column.attname: str(column.column) for column in model._meta.concrete_fields}
        self.encoders = _encoders(model)
        self.defaults = {
            column.attname: self.encode(column.attname, column.get_default()) for column in model._meta.concrete_fields
        }

    def encode(self, column: str, value: Any) -> Any:
        """The value in the form that the database driver accepts."""
        encoder = self.encoders.get(column)
        return encoder(value) if encoder and value is not None else value

    def insert(self, rows: Sequence[dict[str, Any]], **common: Any) -> None:
        """Insert rows, given by attribute name. `common` has values for all rows; other columns get their defaults."""
        if not rows:
            return
        base = self.defaults | {column: self.encode(column, value) for column, value in common.items()}
        given = set().union(*rows)
        # Columns that are empty in every row are left out, since drivers spend time on each None.
        columns = [column for column in self.names if column in given or base[column] is not None]
        index_of = {column: number for number, column in enumerate(columns)}
        encoders = [(column, encode) for column, encode in self.encoders.items() if column in given]
        blank = [base[column] for column in columns]
        filled = []
        for row in rows:
            values = blank.copy()
            for column, value in row.items():
                values[index_of[column]] = value
            for column, encode in encoders:
                if (value := row.get(column)) is not None:
                    values[index_of[column]] = encode(value)
            filled.append(values)
        self._write(columns, filled)

    def _write(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        quoted = ", ".join(connection.ops.quote_name(self.names[column]) for column in columns)
        with connection.cursor() as cursor:
            if connection.vendor != "postgresql":
                placeholders = ", ".join(["%s"] * len(columns))
                cursor.executemany(f"INSERT INTO {self.table} ({quoted}) VALUES ({placeholders})", rows)  # noqa: S608
                return
            # Django's cursor passes `copy` on to the driver without converting its errors.
            with connection.wrap_database_errors, cursor.copy(f"COPY {self.table} ({quoted}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)


def _encoders(model: type[models.Model]) -> dict[str, Callable[[Any], Any]]:
    encoders: dict[str, Callable[[Any], Any]] = {}
    for column in model._meta.concrete_fields:
        if isinstance(column, models.JSONField):
            encoders[column.attname] = lambda value: orjson.dumps(value).decode()
        elif isinstance(column, models.DateTimeField):
            # Cached, since most rows of an import have the same time.
            encoders[column.attname] = lru_cache(maxsize=100)(connection.ops.adapt_datetimefield_value)
        elif connection.vendor == "sqlite" and isinstance(column, models.DecimalField):
            # The same result as the driver's adapters, which are slower.
            encoders[column.attname] = str
        elif connection.vendor == "sqlite" and isinstance(column, models.BooleanField):
            encoders[column.attname] = int
    return encoders


@lru_cache(maxsize=32)
def bulk_table(model: type[models.Model]) -> BulkTable:
    """The model's BulkTable, prepared once. A process uses one kind of database, so the model is key enough."""
    return BulkTable(model)

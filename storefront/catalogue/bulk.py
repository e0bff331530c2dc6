"""Writes rows wide: prepared executemany on SQLite, COPY on PostgreSQL; both several times faster than bulk_create."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import orjson
from django.db import connection, models

# KiB of pages that SQLite keeps in memory while much is written, and pages that its log may hold before they are
# brought into the file: indexes are written to all over, and many a page again by the next batch.
ROOM, LOG = 64_000, 32_000
# Where SQLite keeps what it must remember until a statement of many rows has succeeded, by PRAGMA temp_store's numbers.
IN_MEMORY = 2


@contextmanager
def room_to_write() -> Iterator[None]:
    """Let SQLite's connection of this thread keep many pages in memory meanwhile. Within a transaction, where SQLite
    does not let itself be told everything, it goes on as it is."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        usual = {}
        for name, wanted in (("cache_size", -ROOM), ("wal_autocheckpoint", LOG), ("temp_store", IN_MEMORY)):
            cursor.execute(f"PRAGMA {name}")
            (usual[name],) = cursor.fetchone()
            cursor.execute(f"PRAGMA {name} = {wanted}")
        try:
            yield
        finally:
            for name, value in usual.items():
                cursor.execute(f"PRAGMA {name} = {value}")
            cursor.execute("PRAGMA shrink_memory")


def allocate_ids(model: type[models.Model], count: int) -> range | list[int]:
    """So many unused ids, in ascending order. On SQLite the caller must hold the write lock until they are used."""
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


class WideTable:
    """One model's columns, their defaults, and the statement that fills them."""

    def __init__(self, model: type[models.Model]) -> None:
        self.model = model
        self.table = connection.ops.quote_name(model._meta.db_table)
        self.names = {column.attname: str(column.column) for column in model._meta.concrete_fields}
        self.encoders = _encoders(model)
        self.defaults = {
            column.attname: self.encode(column.attname, column.get_default()) for column in model._meta.concrete_fields
        }

    def encode(self, column: str, value: Any) -> Any:
        """The value as the database's own driver takes it."""
        encoder = self.encoders.get(column)
        return encoder(value) if encoder and value is not None else value

    def insert(self, rows: Sequence[dict[str, Any]], **common: Any) -> None:
        """Insert rows given by attribute name; `common` goes into each, defaults where neither says anything."""
        if not rows:
            return
        base = self.defaults | {column: self.encode(column, value) for column, value in common.items()}
        given = set().union(*rows)
        # What is empty in every row is left out, since drivers take their time over each None.
        columns = [column for column in self.names if column in given or base[column] is not None]
        place = {column: number for number, column in enumerate(columns)}
        encoders = [(column, encode) for column, encode in self.encoders.items() if column in given]
        blank = [base[column] for column in columns]
        filled = []
        for row in rows:
            values = blank.copy()
            for column, value in row.items():
                values[place[column]] = value
            for column, encode in encoders:
                if (value := row.get(column)) is not None:
                    values[place[column]] = encode(value)
            filled.append(values)
        self._write(columns, filled)

    def _write(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        quoted = ", ".join(connection.ops.quote_name(self.names[column]) for column in columns)
        with connection.cursor() as cursor:
            if connection.vendor != "postgresql":
                marks = ", ".join(["%s"] * len(columns))
                cursor.executemany(f"INSERT INTO {self.table} ({quoted}) VALUES ({marks})", rows)  # noqa: S608
                return
            # The wrapped cursor passes `copy` through without turning the driver's errors into Django's.
            with connection.wrap_database_errors, cursor.copy(f"COPY {self.table} ({quoted}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)


def _encoders(model: type[models.Model]) -> dict[str, Callable[[Any], Any]]:
    encoders: dict[str, Callable[[Any], Any]] = {}
    for column in model._meta.concrete_fields:
        if isinstance(column, models.JSONField):
            encoders[column.attname] = lambda value: orjson.dumps(value).decode()
        elif isinstance(column, models.DateTimeField):
            # Most rows of an import share one moment.
            encoders[column.attname] = lru_cache(maxsize=100)(connection.ops.adapt_datetimefield_value)
        elif connection.vendor == "sqlite" and isinstance(column, models.DecimalField):
            # As the driver's own adapters would have it, which are slower to ask.
            encoders[column.attname] = str
        elif connection.vendor == "sqlite" and isinstance(column, models.BooleanField):
            encoders[column.attname] = int
    return encoders


@lru_cache(maxsize=32)
def wide(model: type[models.Model]) -> WideTable:
    """The model's wide table, prepared once; a process uses one kind of database."""
    return WideTable(model)

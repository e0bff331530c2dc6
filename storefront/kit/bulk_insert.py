"""Inserts many rows: by executemany on SQLite, by COPY on PostgreSQL. Several times faster than bulk_create."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any

import orjson
from django.db import connection, models

from storefront.kit.money_field import MoneyField, hundredths

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


# A row without its later columns, in the database's form: columns of a line of COPY, or values.
Packed = bytes | tuple[Any, ...]
# NULL in COPY's format, and the escapes of its special characters.
_COPY_NULL, _COPY_SPECIAL = r"\N", str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
# Rows that are sent at once. The server reads them while the next ones are prepared.
_COPY_ROWS = 200
# Rows of one statement of SQLite, which for each statement looks for every table that the triggers write to in its list
# of sequences.
_INSERT_ROWS = 20


class BulkTable:
    """Inserts rows into a model's table. Columns are named by attribute; one that neither a row nor `common` gives gets
    its default.

    A row can be packed before all of its values are known, in another process for example: `later` are the columns
    that only `insert_packed` takes.
    """

    def __init__(self, model: type[models.Model], common: Mapping[str, Any], *, later: Sequence[str] = ()) -> None:
        fields = {field.attname: field for field in model._meta.concrete_fields}
        columns = [*later, *(name for name in fields if name not in later)]
        self._is_copied = connection.vendor == "postgresql"
        self._null: Any = _COPY_NULL if self._is_copied else None
        encoder = _copy_encoder if self._is_copied else _sqlite_encoder
        self._encoders = {name: encoder(field) for name, field in fields.items()}
        self._places = {name: place for place, name in enumerate(columns[len(later) :])}
        self._later = [self._encoders[name] for name in later]
        # A row whose later columns are all ids is formatted at once, in half of the time.
        self._are_ids = all(_is_integer(fields[name]) for name in later)
        self._line_of_ids = b"%d\t" * len(later) + b"%b\n"
        values = {name: fields[name].get_default() for name in self._places} | dict(common)
        self._blank = [self._encoded(name, values[name]) for name in self._places]
        quote = connection.ops.quote_name
        table, names = quote(model._meta.db_table), ", ".join(quote(str(fields[name].column)) for name in columns)
        marks = f"({', '.join(['%s'] * len(columns))})"
        self._insert = f"INSERT INTO {table} ({names}) VALUES {marks}"  # noqa: S608
        self._insert_rows = self._insert + f", {marks}" * (_INSERT_ROWS - 1)
        self._copy = f"COPY {table} ({names}) FROM STDIN"

    def pack(self, row: Mapping[str, Any]) -> Packed:
        """Pack the row without its later columns."""
        values: list[Any] = self._blank.copy()
        places = self._places
        for name, value in row.items():
            values[places[name]] = self._encoded(name, value)
        return "\t".join(values).encode() if self._is_copied else tuple(values)

    def insert(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows of a table without later columns."""
        self.insert_packed([((), self.pack(row)) for row in rows])

    def insert_packed(self, rows: Sequence[tuple[tuple[Any, ...], Any]]) -> None:
        """Insert packed rows, each after the values of its later columns."""
        if not rows:
            return
        with connection.cursor() as cursor:
            if not self._is_copied:
                self._execute(cursor, [later + packed for later, packed in rows])
                return
            # Django's cursor passes `copy` on to the driver without converting its errors.
            with connection.wrap_database_errors, cursor.copy(self._copy) as copy:
                for start in range(0, len(rows), _COPY_ROWS):
                    copy.write(b"".join([self._line(*row) for row in rows[start : start + _COPY_ROWS]]))

    def _execute(self, cursor: Any, rows: Sequence[tuple[Any, ...]]) -> None:
        rest = len(rows) - len(rows) % _INSERT_ROWS
        joined = (chain.from_iterable(rows[start : start + _INSERT_ROWS]) for start in range(0, rest, _INSERT_ROWS))
        cursor.executemany(self._insert_rows, map(tuple, joined))
        cursor.executemany(self._insert, rows[rest:])

    def _encoded(self, name: str, value: Any) -> Any:
        return self._null if value is None else self._encoders[name](value)

    def _line(self, later: tuple[Any, ...], packed: bytes) -> bytes:
        if not later:
            return packed + b"\n"
        if self._are_ids and None not in later:
            return self._line_of_ids % (*later, packed)
        values = [
            _COPY_NULL if value is None else encode(value) for encode, value in zip(self._later, later, strict=True)
        ]
        return b"%b\t%b\n" % ("\t".join(values).encode(), packed)


Encoder = Callable[[Any], Any]


def _sqlite_encoder(field: "models.Field[Any, Any]") -> Encoder:
    """Encodes values as the driver stores them: the same as its adapters, which are slower."""
    if isinstance(field, models.JSONField):
        return _json
    if isinstance(field, models.DateTimeField):
        return _cached(connection.ops.adapt_datetimefield_value)
    if isinstance(field, MoneyField):
        return hundredths
    if isinstance(field, models.DecimalField):
        return str
    return int if isinstance(field, models.BooleanField) else _unchanged


def _copy_encoder(field: "models.Field[Any, Any]") -> Encoder:
    """Encodes values as COPY reads them."""
    if isinstance(field, models.JSONField):
        return lambda value: _copy_text(_json(value))
    if isinstance(field, models.DateTimeField):
        return _cached(str)
    if isinstance(field, models.BooleanField):
        return lambda value: "t" if value else "f"
    if isinstance(field, MoneyField):
        return lambda value: str(hundredths(value))
    if isinstance(field, models.ForeignKey):
        return _copy_encoder(field.target_field)
    return str if isinstance(field, (models.DecimalField, models.IntegerField)) else _copy_text


def _is_integer(field: "models.Field[Any, Any]") -> bool:
    if isinstance(field, models.ForeignKey):
        return _is_integer(field.target_field)
    return isinstance(field, models.IntegerField)


def _copy_text(value: Any) -> str:
    text = str(value)
    # Most texts have none of these characters, and searching for them is faster than escaping.
    is_special = "\\" in text or "\n" in text or "\t" in text or "\r" in text
    return text.translate(_COPY_SPECIAL) if is_special else text


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _cached(encode: Encoder) -> Encoder:
    """Cache the encoded values, since most rows of an import have the same time."""
    return lru_cache(maxsize=100)(encode)


def _unchanged(value: Any) -> Any:
    return value

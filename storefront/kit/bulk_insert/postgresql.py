"""What inserting many rows needs of PostgreSQL."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import orjson
from django.db import connection, models

from storefront.kit.money_field import MoneyField, hundredths

# NULL in COPY's format, and the escapes of its special characters.
NULL, _SPECIAL = r"\N", str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
# Rows that are sent at once. The server reads them while the next ones are prepared.
_ROWS = 200


@contextmanager
def bulk_write_pragmas() -> Iterator[None]:
    """Does nothing: the server's settings are for any load."""
    yield


def allocate_ids(table: str, column: str, count: int) -> Sequence[int]:
    """`count` unused ids, in ascending order."""
    with connection.cursor() as cursor:
        # The sequence's name is looked up once, not for each id.
        cursor.execute(
            "SELECT array_agg(nextval(named.sequence)) FROM (SELECT pg_get_serial_sequence(%s, %s)::regclass AS"
            " sequence OFFSET 0) named, generate_series(1, %s)",
            [table, column, count],
        )
        return list(cursor.fetchone()[0])


def encoder(field: Any) -> Callable[[Any], Any]:
    """Encodes the field's values as rows are packed with them, which is as COPY reads them."""
    if isinstance(field, models.JSONField):
        return lambda value: _text(orjson.dumps(value).decode())
    if isinstance(field, models.DateTimeField):
        # Cache the encoded values, since most rows of an import have the same time.
        return lru_cache(maxsize=100)(str)
    if isinstance(field, models.BooleanField):
        return lambda value: "t" if value else "f"
    if isinstance(field, MoneyField):
        return lambda value: str(hundredths(value))
    if isinstance(field, models.ForeignKey):
        return encoder(field.target_field)
    return str if isinstance(field, (models.DecimalField, models.IntegerField)) else _text


def packed(values: Sequence[Any]) -> bytes:
    """A row of encoded values."""
    return "\t".join(values).encode()


def insert(table: str, later: Sequence[Any], rows: Sequence[tuple[tuple[Any, ...], Any]]) -> None:
    """Insert packed rows into the table, which is its name with its columns. `later` are the fields of the first
    columns, whose values come beside each packed row."""
    encoders = [encoder(field) for field in later]
    # A row whose later columns are all ids is formatted at once, in half of the time.
    are_ids = all(_is_integer(field) for field in later)
    line_of_ids = b"%d\t" * len(later) + b"%b\n"

    def line(first: tuple[Any, ...], rest: bytes) -> bytes:
        if are_ids and None not in first:
            return line_of_ids % (*first, rest)
        values = [NULL if value is None else encode(value) for encode, value in zip(encoders, first, strict=True)]
        return b"%b\t%b\n" % ("\t".join(values).encode(), rest)

    # Django's cursor passes `copy` on to the driver without converting its errors.
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {table} FROM STDIN") as copy,
    ):
        for start in range(0, len(rows), _ROWS):
            copy.write(b"".join([line(*row) for row in rows[start : start + _ROWS]]))


def _is_integer(field: Any) -> bool:
    return (
        _is_integer(field.target_field)
        if isinstance(field, models.ForeignKey)
        else isinstance(field, models.IntegerField)
    )


def _text(value: Any) -> str:
    text = str(value)
    # Most texts have none of these characters, and searching for them is faster than escaping.
    is_special = "\\" in text or "\n" in text or "\t" in text or "\r" in text
    return text.translate(_SPECIAL) if is_special else text

"""Rows in a form that is the same for every database, and digests of them.

A row is one line of JSON: a list with a value for each column. Money and other decimals are strings, times are in UTC,
bytes are base64. Numbers in JSON columns that are whole are written without a fraction, since PostgreSQL stores 1e2 as
100.
"""

from base64 import b64encode
from collections.abc import Iterator
from decimal import Decimal
from hashlib import sha256
from typing import Any

import orjson
from django.db.models import JSONField, QuerySet

from storefront.server.archive.tables import Table

# Rows that are in memory at once.
BATCH_ROWS = 500
_MODULUS = 1 << 256


def columns(table: Table) -> list[str]:
    """The attributes of a table's columns, in the order of its rows here."""
    return [field.attname for field in table._meta.concrete_fields]


def lines(rows: QuerySet) -> Iterator[bytes]:
    """Each row as a line of JSON without its line break. Reads in batches."""
    fields = rows.model._meta.concrete_fields
    documents = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]
    names = [field.attname for field in fields]
    for values in rows.values_list(*names).iterator(BATCH_ROWS):
        yield line_of(values, documents)


def line_of(values: tuple[Any, ...], documents: list[int]) -> bytes:
    """One row as a line of JSON. `documents` are the places of its JSON columns."""
    row = list(values)
    for place in documents:
        row[place] = _plain_numbers(row[place])
    return orjson.dumps(row, default=_encoded, option=orjson.OPT_SORT_KEYS)


class Digest:
    """A digest of lines in any order, with their count."""

    def __init__(self) -> None:
        self.rows = 0
        self._total = 0

    def add(self, line: bytes) -> None:
        self.rows += 1
        self._total = (self._total + int.from_bytes(sha256(line).digest(), "big")) % _MODULUS

    @property
    def value(self) -> str:
        return f"{self._total:064x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and (self.rows, self._total) == (other.rows, other._total)

    __hash__ = None  # type: ignore[assignment]


def digest_of(rows: QuerySet) -> Digest:
    """The digest of these rows."""
    found = Digest()
    for line in lines(rows):
        found.add(line)
    return found


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(each) for key, each in value.items()}
    return [_plain_numbers(each) for each in value] if isinstance(value, list) else value


def _encoded(value: Any) -> str:
    """orjson's hook for what JSON has no form for."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} has no form in an archive")

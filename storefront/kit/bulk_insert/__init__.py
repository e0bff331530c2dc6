"""Inserts many rows: by executemany on SQLite, by COPY on PostgreSQL. Several times faster than bulk_create."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection, models

from storefront.kit.dialect import IS_POSTGRESQL

if IS_POSTGRESQL:
    from storefront.kit.bulk_insert import postgresql as dialect
else:
    from storefront.kit.bulk_insert import sqlite as dialect  # type: ignore[no-redef]

bulk_write_pragmas = dialect.bulk_write_pragmas

# A row without its later columns, in the database's form: columns of a line of COPY, or values.
Packed = bytes | tuple[Any, ...]


def allocate_ids(model: type[models.Model], count: int) -> Sequence[int]:
    """`count` unused ids, in ascending order. On SQLite the caller must hold the write lock until they are used."""
    return dialect.allocate_ids(model._meta.db_table, str(model._meta.pk.column), count) if count else []


class BulkTable:
    """Inserts rows into a model's table. Columns are named by attribute; one that neither a row nor `common` gives gets
    its default.

    A row can be packed before all of its values are known, in another process for example: `later` are the columns
    that only `insert_packed` takes.
    """

    def __init__(self, model: type[models.Model], common: Mapping[str, Any], *, later: Sequence[str] = ()) -> None:
        fields: dict[str, Any] = {field.attname: field for field in model._meta.concrete_fields}
        columns = [*later, *(name for name in fields if name not in later)]
        self._encoders = {name: dialect.encoder(field) for name, field in fields.items()}
        self._places = {name: place for place, name in enumerate(columns[len(later) :])}
        values = {name: fields[name].get_default() for name in self._places} | dict(common)
        self._blank = [self._encoded(name, values[name]) for name in self._places]
        quote = connection.ops.quote_name
        names = ", ".join(quote(str(fields[name].column)) for name in columns)
        self._table = f"{quote(model._meta.db_table)} ({names})"
        self._later = [fields[name] for name in later]

    def pack(self, row: Mapping[str, Any]) -> Packed:
        """Pack the row without its later columns."""
        values: list[Any] = self._blank.copy()
        places = self._places
        for name, value in row.items():
            values[places[name]] = self._encoded(name, value)
        return dialect.packed(values)

    def insert(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows of a table without later columns."""
        self.insert_packed([((), self.pack(row)) for row in rows])

    def insert_packed(self, rows: Sequence[tuple[tuple[Any, ...], Any]]) -> None:
        """Insert packed rows, each after the values of its later columns."""
        if rows:
            dialect.insert(self._table, self._later, rows)

    def _encoded(self, name: str, value: Any) -> Any:
        return dialect.NULL if value is None else self._encoders[name](value)

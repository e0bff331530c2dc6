"""Helpers for hand-written SQL, which most requests run."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

import orjson
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import JSONField, Model
from django.db.models.base import ModelState

M = TypeVar("M", bound=Model)
Convert = Callable[[Any, Any, Any], Any]


class Columns(Generic[M]):
    """Columns of a model's table for hand-written statements. Values are converted as by the ORM, but the converters
    are looked up once. Without `names`, all columns of the table."""

    def __init__(self, model: type[M], *names: str, without: Sequence[str] = ()) -> None:
        fields: Sequence[Any] = model._meta.concrete_fields
        # In the model's order, in which `from_db` takes values.
        self._fields = [f for f in fields if (not names or f.attname in names) and f.attname not in without]
        self._model = model
        self._converters: dict[str, list[tuple[int, Convert, Any]]] = {}
        self.table = model._meta.db_table
        self.names = [field.attname for field in self._fields]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, alias: str) -> str:
        """The select list, for a table with this alias."""
        return ", ".join(f"{alias}.{field.column}" for field in self._fields)

    def instance(self, connection: BaseDatabaseWrapper, row: Sequence[Any]) -> M:
        """An instance of the model from the row's first values; other columns are deferred. The row may have more
        values after them.

        Django's own constructor sets each attribute through a descriptor and sends two signals. That took half of the
        time of a read of a cart, so the attributes are stored directly here."""
        connection = unwrapped(connection)
        values = list(row[: len(self.names)])
        for position, convert, column in self._converters_of(connection):
            if values[position] is not None:
                values[position] = convert(values[position], column, connection)
        state = ModelState()
        state.adding, state.db = False, connection.alias
        instance = self._model.__new__(self._model)
        instance.__dict__.update(zip(self.names, values, strict=True), _state=state)
        return instance

    def _converters_of(self, connection: BaseDatabaseWrapper) -> list[tuple[int, Convert, Any]]:
        found = self._converters.get(connection.vendor)
        if found is None:
            columns = [field.get_col(self.table) for field in self._fields]
            found = self._converters[connection.vendor] = [
                (position, convert, column)
                for position, column in enumerate(columns)
                for convert in _converters(connection, column)
            ]
        return found

    def insertion(self, prefix: str = "", **given: str) -> str:
        """The INSERT statement. Its parameters come from `values`; columns in `given` have SQL expressions instead."""
        columns = ", ".join(field.column for field in self._fields)
        values = ", ".join(given.get(name, f"%({prefix}{name})s") for name in self.names)
        return f"INSERT INTO {self.table} ({columns}) VALUES ({values})"  # noqa: S608, built from column names only

    def insertions(self, count: int) -> str:
        """The INSERT statement for `count` rows. The parameters of row 0 come from `values` with the prefix `r0_`."""
        rows = [", ".join(f"%(r{number}_{name})s" for name in self.names) for number in range(1, count)]
        return "".join([self.insertion(prefix="r0_"), *(f", ({row})" for row in rows)])

    def values(self, connection: BaseDatabaseWrapper, instance: M, prefix: str = "") -> dict[str, Any]:
        """The instance's values of these columns, in the form that the database driver accepts."""
        connection = unwrapped(connection)
        return {
            prefix + field.attname: field.get_db_prep_save(getattr(instance, field.attname), connection)
            for field in self._fields
        }


def fetch(
    connection: BaseDatabaseWrapper, statement: str, params: Mapping[str, Any], *, prepared: bool = True
) -> list[tuple]:
    """Run the statement and return all rows.

    PostgreSQL prepares a statement that is repeated, which saves planning there and quoting here. Pass `prepared=False`
    if the best plan depends on the values, as in a search.
    """
    connection = unwrapped(connection)
    with _prepared_cursor(connection) if prepared else connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def unwrapped(connection: BaseDatabaseWrapper) -> BaseDatabaseWrapper:
    """The connection behind the proxy `django.db.connection`, which looks it up again for each attribute."""
    return connection if isinstance(connection, BaseDatabaseWrapper) else connections[connection.alias]


def _converters(connection: BaseDatabaseWrapper, column: Any) -> list[Convert]:
    if isinstance(column.output_field, JSONField):
        return [_json]
    return [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]


def _json(value: str, _column: Any, _connection: Any) -> Any:
    return orjson.loads(value)


def _prepared_cursor(connection: Any) -> Any:
    if connection.vendor != "postgresql":
        # SQLite's driver caches statements itself.
        return connection.cursor()
    # The server may have been restarted since the last request. Django does the same before its own cursors.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    # Wrapped as Django's own cursors are, so that logs and query counts include it.
    return connection._prepare_cursor(_server_bound()(connection.connection))


@cache
def _server_bound() -> Any:
    # Imported here, since it loads the PostgreSQL driver, which a deployment on SQLite does not need.
    from django.db.backends.postgresql.base import ServerBindingCursor

    class Cursor(ServerBindingCursor):
        """Records a prepared statement's text, too, where Django's query log looks for it."""

        def _send_query_prepared(self, name: bytes, pgq: Any, **given: Any) -> None:
            self._query = pgq
            super()._send_query_prepared(name, pgq, **given)  # type: ignore[misc]

    return Cursor

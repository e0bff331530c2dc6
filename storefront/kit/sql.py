"""Statements that are written by hand and run on most requests."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

M = TypeVar("M", bound=Model)
Convert = Callable[[Any, Any, Any], Any]


class Columns(Generic[M]):
    """Columns of a model's table as statements by hand read and write them; converted as the ORM does it, but with what
    converts each looked up once. Without names, all columns of the table."""

    def __init__(self, model: type[M], *names: str, without: Sequence[str] = ()) -> None:
        fields: Sequence[Any] = model._meta.concrete_fields
        # In the order of the model's own, which is how it takes values.
        self._fields = [f for f in fields if (not names or f.attname in names) and f.attname not in without]
        self._model = model
        self._converters: dict[str, list[tuple[int, Convert, Any]]] = {}
        self.table = model._meta.db_table
        self.names = [field.attname for field in self._fields]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, alias: str) -> str:
        """The list to select, of the table's rows under this alias."""
        return ", ".join(f"{alias}.{field.column}" for field in self._fields)

    def instance(self, connection: BaseDatabaseWrapper, row: Sequence[Any]) -> M:
        """The model's instance with these columns, and the others deferred; the row may go on behind them."""
        connection = itself(connection)
        values = list(row[: len(self.names)])
        for position, convert, column in self._converting(connection):
            values[position] = convert(values[position], column, connection)
        return self._model.from_db(connection.alias, self.names, values)

    def _converting(self, connection: BaseDatabaseWrapper) -> list[tuple[int, Convert, Any]]:
        found = self._converters.get(connection.vendor)
        if found is None:
            columns = [field.get_col(self.table) for field in self._fields]
            found = self._converters[connection.vendor] = [
                (position, convert, column)
                for position, column in enumerate(columns)
                for convert in (*connection.ops.get_db_converters(column), *column.get_db_converters(connection))
            ]
        return found

    def insertion(self, prefix: str = "", **given: str) -> str:
        """The statement that inserts a row; its parameters are `values`, but for columns given as SQL."""
        columns = ", ".join(field.column for field in self._fields)
        values = ", ".join(given.get(name, f"%({prefix}{name})s") for name in self.names)
        return f"INSERT INTO {self.table} ({columns}) VALUES ({values})"  # noqa: S608, of names that the models have

    def values(self, connection: BaseDatabaseWrapper, instance: M, prefix: str = "") -> dict[str, Any]:
        """What an instance has in these columns, as the database takes it."""
        connection = itself(connection)
        return {
            prefix + field.attname: field.get_db_prep_save(getattr(instance, field.attname), connection)
            for field in self._fields
        }


def fetch(
    connection: BaseDatabaseWrapper, statement: str, params: Mapping[str, Any], *, prepared: bool = True
) -> list[tuple]:
    """All rows of the statement.

    PostgreSQL keeps a statement prepared that comes again and again, which spares it planning, and us quoting. Leave
    `prepared` off where the best plan depends on the values, as that of a search does.
    """
    connection = itself(connection)
    with _prepared_cursor(connection) if prepared else connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def itself(connection: BaseDatabaseWrapper) -> BaseDatabaseWrapper:
    """The connection that `django.db.connection` stands for, which looks it up anew for whatever is asked of it."""
    return connections[connection.alias]


def _prepared_cursor(connection: Any) -> Any:
    if connection.vendor != "postgresql":
        # SQLite's driver keeps statements by itself.
        return connection.cursor()
    connection.ensure_connection()
    # Prepared the way that Django's own cursors are, so that logs and query counts see this one too.
    return connection._prepare_cursor(_server_bound()(connection.connection))


@cache
def _server_bound() -> Any:
    # Only here, since it loads the driver, which an installation on SQLite never needs.
    from django.db.backends.postgresql.base import ServerBindingCursor

    class Cursor(ServerBindingCursor):
        """Keeps its statement where Django's log looks for it also when it is sent by its name alone."""

        def _send_query_prepared(self, name: bytes, pgq: Any, **given: Any) -> None:
            self._query = pgq
            super()._send_query_prepared(name, pgq, **given)  # type: ignore[misc]

    return Cursor

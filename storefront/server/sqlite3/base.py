import sqlite3
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base, schema

from storefront.server.sqlite3.writers import queue_of

# The driver looks for an adapter of each NULL, and without one for an `__adapt__`, in vain. This one returns None.
sqlite3.register_adapter(type(None), {}.get)  # type: ignore[arg-type]


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def _remake_table(self, *args: Any, **options: Any) -> None:
        """Remakes a table and keeps all triggers.

        SQLite drops a table's triggers with the table, and refuses to rename the new table while triggers of other
        tables mention the old one. So all triggers are dropped first and created again afterwards. The triggers miss
        no change, since nothing else writes meanwhile.
        """
        with self.connection.cursor() as cursor:
            triggers = cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {self.quote_name(name)}")
            super()._remake_table(*args, **options)  # type: ignore[misc]
            for _, statement in triggers:
                cursor.execute(statement)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, whose transactions wait for their turn among this process's threads before they ask SQLite."""

    SchemaEditorClass = DatabaseSchemaEditor
    # Whether this connection's transaction has its turn.
    _has_turn = False

    def _start_transaction_under_autocommit(self) -> None:
        if not self._has_turn and not queue_of(self._file()).acquire(self._max_wait_seconds()):
            raise OperationalError("database is locked")
        self._has_turn = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            queue_of(self._file()).release()

    def _file(self) -> str:
        return str(self.settings_dict["NAME"])

    def _max_wait_seconds(self) -> float:
        return float(self.settings_dict["OPTIONS"].get("timeout", 5))

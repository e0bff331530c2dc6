# ruff: noqa: S608, the statements consist of names and definitions that the database gives.
"""The operation for migrations that divides an existing table into partitions by time (`time_partitions.py`)."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import OperationalError, transaction
from django.db.migrations.operations.base import Operation

from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.time_partitions import RETRIED, ByTime

# How long the table is the last partition of a database with rows, at least: in this time, an interrupted migration
# has to be repeated, since the table takes no later rows meanwhile.
MIN_LEFT = timedelta(days=28)
# How long writers can have to wait at each try of locking the table, the tries, and the seconds between them.
MAX_LOCK_WAIT, MAX_TRIES, PAUSE_SECONDS = "500ms", 240, 0.5
_COPIED = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS INCLUDING STORAGE INCLUDING GENERATED"


class DivideByTime(Operation):
    """Divide the table on PostgreSQL, without copying rows: it becomes the first partition, `table_before`. All rows
    are read once, while others write; then writers wait for a moment.

    The migration has `atomic = False`. Safe to repeat after an interruption. No foreign key may lead to the table.
    """

    reversible, atomic = False, False

    def __init__(self, table: str, column: str, interval: str) -> None:
        self.given = {"table": table, "column": column, "interval": interval}
        self.parts = ByTime(table, column, interval)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [], self.given

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The models stay as they are."""

    def describe(self) -> str:
        return f"Divide {self.parts.table} by {self.parts.column}"

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if IS_POSTGRESQL:
            _Division(schema_editor.connection, self.parts).run()


class _Definitions(NamedTuple):
    """The statements that make parts of the table again on the new one."""

    indexes: list[str]
    keys: list[str]
    triggers: list[str]
    grants: list[str]
    sequence: str
    sequence_options: str
    last_id: int
    is_called: bool


class _Division:
    def __init__(self, connection: Any, parts: ByTime) -> None:
        self.connection, self.parts = connection, parts
        self.table, self.column = parts.table, parts.column
        self.before, self.bound = f"{self.table}_before", f"{self.table}_until"
        self.unique = f"{self.table}_id_time"

    def run(self) -> None:
        if self._value("SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass", self.table):
            return
        now = clock.now()
        if self._value(f"SELECT NOT EXISTS (SELECT 1 FROM {self.table})") and self._swap(self.parts.start(now), now):
            return
        end = self.parts.start(now + MIN_LEFT + timedelta(days=32 if self.parts.interval == "month" else 7))
        try:
            self._limit_rows(end)
            self._index_ids()
            self._swap(end, now, filled=True)
        except BaseException:
            # Otherwise the table would refuse rows from then on.
            self._execute(f"ALTER TABLE IF EXISTS {self.table} DROP CONSTRAINT IF EXISTS {self.bound}")
            raise

    def _limit_rows(self, end: datetime) -> None:
        """Prove that all rows are from before the end, so that the table need not be read when it becomes a
        partition."""

        def limit() -> None:
            self._execute(f"ALTER TABLE {self.table} DROP CONSTRAINT IF EXISTS {self.bound}")
            check = f"CHECK ({self.column} < '{end:%Y-%m-%d}+00')"
            self._execute(f"ALTER TABLE {self.table} ADD CONSTRAINT {self.bound} {check} NOT VALID")

        self._locking(limit)
        self._execute(f"ALTER TABLE {self.table} VALIDATE CONSTRAINT {self.bound}")

    def _index_ids(self) -> None:
        # An interrupted one leaves an index that cannot be used.
        self._execute(f"DROP INDEX IF EXISTS {self.unique}")
        self._execute(f"CREATE UNIQUE INDEX CONCURRENTLY {self.unique} ON {self.table} (id, {self.column})")

    def _swap(self, end: datetime, now: datetime, *, filled: bool = False) -> bool:
        """Put a divided table in the place of this one. Returns False if the table was to be empty, and is not."""

        def swap() -> bool:
            self._execute(f"LOCK TABLE {self.table} IN ACCESS EXCLUSIVE MODE")
            if not filled and self._value(f"SELECT EXISTS (SELECT 1 FROM {self.table})"):
                return False
            found = self._definitions()
            self._set_aside(filled)
            self._make_divided(found)
            self._execute(
                f"ALTER TABLE {self.table} ATTACH PARTITION {self.before} FOR VALUES FROM (MINVALUE)"
                f" TO ('{end:%Y-%m-%d}+00')"
            )
            self._execute(f"ALTER TABLE {self.before} DROP CONSTRAINT IF EXISTS {self.bound}")
            self._make_default()
            for trigger in found.triggers:
                self._execute(trigger)
            return True

        if self._locking(swap):
            self.parts.add_missing(now=now)
            return True
        return False

    def _definitions(self) -> _Definitions:
        of_table = "WHERE {}relid = %s::regclass"
        sequence = self._value("SELECT pg_get_serial_sequence(%s, 'id')", self.table)
        options = self._value(
            "SELECT format('INCREMENT %%s MINVALUE %%s MAXVALUE %%s START %%s CACHE %%s', seqincrement, seqmin, seqmax,"
            " seqstart, seqcache) FROM pg_sequence WHERE seqrelid = %s::regclass",
            sequence,
        )
        last_id, is_called = self._rows(f"SELECT last_value, is_called FROM {sequence}")[0]
        grants = (
            "SELECT format('GRANT %%s ON {kind} {name} TO %%s', privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC'"
            " ELSE quote_ident(pg_get_userbyid(grantee)) END) FROM pg_class, aclexplode(relacl)"
            " WHERE oid = '{name}'::regclass AND grantee <> relowner"
        )
        return _Definitions(
            self._texts("SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass"
                        " AND NOT indisunique ORDER BY indexrelid", self.table),
            self._texts("SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname,"
                        f" pg_get_constraintdef(oid)) FROM pg_constraint {of_table.format('con')} AND contype = 'f'",
                        self.table),
            self._texts(f"SELECT pg_get_triggerdef(oid) FROM pg_trigger {of_table.format('tg')} AND NOT tgisinternal",
                        self.table),
            self._texts(grants.format(kind="TABLE", name=self.table))
            + self._texts(grants.format(kind="SEQUENCE", name=sequence)),
            sequence, options, last_id, is_called,
        )  # fmt: skip

    def _set_aside(self, filled: bool) -> None:
        """Rename the table and its indexes, and extend its key by the time."""
        for (trigger,) in self._rows(
            "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal", self.table
        ):
            self._execute(f'DROP TRIGGER "{trigger}" ON {self.table}')
        self._execute(f"ALTER TABLE {self.table} ALTER id DROP IDENTITY")
        self._execute(f"ALTER TABLE {self.table} RENAME TO {self.before}")
        (key,) = self._texts(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'p'", self.before
        )
        self._execute(f'ALTER TABLE {self.before} DROP CONSTRAINT "{key}"')
        names = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass"
        for name in set(self._texts(names, self.before)) - {self.unique}:
            self._execute(f'ALTER INDEX {name} RENAME TO "{name.strip(chr(34))[:56]}_before"')
        columns = f"USING INDEX {self.unique}" if filled else f"(id, {self.column})"
        self._execute(f"ALTER TABLE {self.before} ADD CONSTRAINT {self.before}_pkey PRIMARY KEY {columns}")

    def _make_divided(self, found: _Definitions) -> None:
        self._execute(f"CREATE TABLE {self.table} (LIKE {self.before} {_COPIED}) PARTITION BY RANGE ({self.column})")
        self._execute(f"ALTER TABLE {self.table} DROP CONSTRAINT IF EXISTS {self.bound}")
        self._execute(
            f"ALTER TABLE {self.table} ALTER id ADD GENERATED BY DEFAULT AS IDENTITY"
            f" (SEQUENCE NAME {found.sequence} {found.sequence_options})"
        )
        self._rows("SELECT setval(%s, %s, %s)", found.sequence, found.last_id, found.is_called)
        self._execute(f"ALTER TABLE {self.table} ADD CONSTRAINT {self.table}_pkey PRIMARY KEY (id, {self.column})")
        for statement in (*found.indexes, *found.keys, *found.grants):
            self._execute(statement)

    def _make_default(self) -> None:
        default = self.parts.default
        options = self._value(
            "SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = %s::regclass", self.before
        )
        pattern = f"CREATE TABLE {default} (LIKE {self.before} INCLUDING ALL)"
        self._execute(pattern + (f" WITH ({options})" if options else ""))
        self._execute(f"ALTER TABLE {self.table} ATTACH PARTITION {default} DEFAULT")

    def _locking(self, change: Callable[[], Any]) -> Any:
        """Run this in a transaction that waits for locks for MAX_LOCK_WAIT, until it succeeds. Returns its result."""
        for last in range(MAX_TRIES, 0, -1):
            try:
                with transaction.atomic(using=self.connection.alias):
                    self._execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_WAIT}'")
                    return change()
            except OperationalError as error:
                if last == 1 or getattr(error.__cause__, "sqlstate", None) not in RETRIED:
                    raise
                time.sleep(PAUSE_SECONDS)
        return None

    def _execute(self, statement: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)

    def _rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement, given)
            return cursor.fetchall()

    def _texts(self, statement: str, *given: Any) -> list[Any]:
        return [row[0] for row in self._rows(statement, *given)]

    def _value(self, statement: str, *given: Any) -> Any:
        return self._rows(statement, *given)[0][0]

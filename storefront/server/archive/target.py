# ruff: noqa: S608, the statements consist of names of tables, columns and constraints.
"""The PostgreSQL database that is copied to: empty, owned by an ordinary user, filled in one transaction."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import DataError, IntegrityError, load_backend

from storefront.server.archive.tables import MADE_BY_MIGRATE, Table, all_tables
from storefront.server.command import Failed
from storefront.server.environment import postgresql

ALIAS = "target"
MAX_LOCK_SECONDS = 30
# The longest time for `migrate` or `verify`, which read all rows of a large deployment.
MAX_COMMAND_SECONDS = 6 * 3600


def connect(url: str) -> Any:
    """Make the database of this URL known to Django as ALIAS. Raises OperationalError if it does not answer."""
    given = connections.configure_settings({"default": postgresql("--to", url=url)})["default"]
    connections[ALIAS] = load_backend(given["ENGINE"]).DatabaseWrapper(given, ALIAS)
    connections[ALIAS].ensure_connection()
    return connections[ALIAS]


def run(url: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run one of our commands on the target, in a process of its own, since a process has one kind of database."""
    ours = ("STOREFRONT_PGBOUNCER", "DATABASE_DIRECT_URL")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    return subprocess.run(  # noqa: S603, the program itself
        [sys.executable, "-m", "storefront.server.cli", *command],
        env=environment | {"DATABASE_URL": url},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=MAX_COMMAND_SECONDS,
        check=False,
    )


def prepare(target: Any, source: Any, url: str) -> None:
    """Create the tables. Raises Failed if the database has rows or other tables, or if another release made them."""
    names = set(target.introspection.table_names())
    if names and "shops_shop" not in names:
        raise Failed("The target has tables of another program; give an empty database. Nothing was changed.")
    require_empty(target, names)
    if (made := run(url, "migrate", "--verbosity", "0")).returncode:
        raise Failed(f"The target's tables cannot be created: {made.stderr.strip() or 'migrate failed'}")
    applied = [set(MigrationRecorder(each).applied_migrations()) for each in (source, target)]
    if applied[0] != applied[1]:
        raise Failed("Source and target have different migrations; run storefront migrate on the source first.")


def require_empty(target: Any, names: set[str]) -> None:
    """Raise Failed if a table has rows that `migrate` did not make."""
    with target.cursor() as cursor:
        for table in all_tables():
            if table._meta.label in MADE_BY_MIGRATE or table._meta.db_table not in names:
                continue
            cursor.execute(f'SELECT EXISTS (SELECT 1 FROM "{table._meta.db_table}")')
            if cursor.fetchone()[0]:
                raise Failed(
                    f"The target is not empty: {table._meta.db_table} has rows. Give an empty database. Nothing was"
                    " changed."
                )


@contextmanager
def filling(target: Any) -> Iterator[Any]:
    """A cursor for filling the empty tables, in one transaction: triggers do not run, and foreign keys are checked at
    the end, all at once. If anything fails, nothing stays."""
    quoted = [f'"{table._meta.db_table}"' for table in all_tables()]
    with transaction.atomic(using=ALIAS), target.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_SECONDS}s'")
        # Dates without a zone are UTC, as SQLite stores them.
        cursor.execute("SET LOCAL timezone = 'UTC'")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute(f"LOCK TABLE {', '.join(quoted)} IN ACCESS EXCLUSIVE MODE")
        require_empty(target, set(target.introspection.table_names(cursor)))
        foreign_keys = _foreign_keys(cursor)
        for name, table, _ in foreign_keys:
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        for table in quoted:
            # Only the owner's own triggers, so no superuser is needed.
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield cursor
        for table in quoted:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        for name, table, definition in foreign_keys:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')


def _foreign_keys(cursor: Any) -> list[tuple[str, str, str]]:
    """Name, table and definition of each foreign key."""
    cursor.execute(
        "SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
        " AND conparentid = 0 AND connamespace = current_schema()::regnamespace ORDER BY conname"
    )
    return cursor.fetchall()


@contextmanager
def receiving(cursor: Any, table: Table) -> Iterator[Any]:
    """A COPY into the table, in the order of its model's columns. Raises Failed for a row that PostgreSQL refuses,
    without its values."""
    names = ", ".join(f'"{field.column}"' for field in table._meta.concrete_fields)
    try:
        # Django's cursor passes `copy` on to the driver without converting its errors.
        with cursor.db.wrap_database_errors, cursor.copy(f'COPY "{table._meta.db_table}" ({names}) FROM STDIN') as copy:
            yield copy
    except (DataError, IntegrityError) as error:
        diagnosis = getattr(error.__cause__, "diag", None)
        # After the colon is the value.
        place = (getattr(diagnosis, "context", None) or f"COPY {table._meta.db_table}").split(":")[0]
        raise Failed(
            f"PostgreSQL refuses a row, nothing was copied: {getattr(diagnosis, 'message_primary', error)} ({place})."
        ) from None


def continue_ids(cursor: Any, table: Table, last: int) -> None:
    """Let the table's next id be after `last`, unless it already is. Does nothing for a table without a sequence."""
    cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [f'"{table._meta.db_table}"', table._meta.pk.column])
    (sequence,) = cursor.fetchone()
    if sequence:
        cursor.execute(
            f"SELECT setval(%s::regclass, %s) FROM {sequence} WHERE last_value + is_called::int <= %s",
            [sequence, last, last],
        )

"""Statements that are written by hand and run on most requests."""

from collections.abc import Mapping
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper


def fetch(
    connection: BaseDatabaseWrapper, statement: str, params: Mapping[str, Any], *, prepared: bool = True
) -> list[tuple]:
    """All rows of the statement.

    PostgreSQL keeps a statement prepared that comes again and again, which spares it planning, and us quoting. Leave
    `prepared` off where the best plan depends on the values, as that of a search does.
    """
    with _prepared_cursor(connection) if prepared else connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def _prepared_cursor(connection: Any) -> Any:
    if connection.vendor != "postgresql":
        # SQLite's driver keeps statements by itself.
        return connection.cursor()
    # Only here, since it loads the driver, which an installation on SQLite never needs.
    from django.db.backends.postgresql.base import ServerBindingCursor

    connection.ensure_connection()
    # Prepared the way that Django's own cursors are, so that logs and query counts see this one too.
    cursor: Any = ServerBindingCursor
    return connection._prepare_cursor(cursor(connection.connection))

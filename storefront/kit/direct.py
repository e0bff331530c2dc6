"""Connections that are not pooled, for work that lasts longer than a transaction: LISTEN, session locks and migrations.
A PgBouncer that pools transactions would give the session to other clients in between.
"""

from typing import Any

from django.conf import settings


def direct_copy(connection: Any) -> Any:
    """A connection of its own to the same PostgreSQL database, past PgBouncer (DATABASE_DIRECT_URL) and any pool."""
    own = connection.copy()
    own.settings_dict = {**own.settings_dict, **(settings.DATABASE_DIRECT or {})}
    own.settings_dict["OPTIONS"] = {k: value for k, value in own.settings_dict["OPTIONS"].items() if k != "pool"}
    return own


def make_direct(connection: Any) -> None:
    """Let this process use the database past PgBouncer from now on."""
    if settings.DATABASE_DIRECT:
        connection.close()
        # A session of its own can have cursors, so that large tables are not read into memory at once.
        connection.settings_dict |= {"DISABLE_SERVER_SIDE_CURSORS": False} | settings.DATABASE_DIRECT

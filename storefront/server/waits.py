"""Deadlines for the database statements and transactions of our processes.

A visitor never waits for ever, and a stalled statement never holds a thread that others need: statements of web
processes, and their waits for locks, have deadlines. The worker, commands and migrations have none: an import or a new
index may take long.

No process of ours keeps a transaction open in which nothing happens: all connections to PostgreSQL end such a session.
It would hold its locks, and the change feed of all shops, which ends before the oldest running transaction.
"""

from typing import Any

from django.conf import settings

IDLE, READ_ONLY = "idle_in_transaction_session_timeout", "default_transaction_read_only"


def bounded(options: dict[str, Any], **given_settings: int | str) -> dict[str, Any]:
    """PostgreSQL connection options with these of the server's settings: seconds of a time-out, such as
    `lock_timeout=10`, where 0 is none, or a text. What the options set themselves stays."""
    given = options.get("options", "")
    values = {name: f"{value}s" if isinstance(value, int) else value for name, value in given_settings.items()}
    added = [f"-c {name}={value}" for name, value in values.items() if name not in given]
    return options | {"options": " ".join([given, *added]).strip()}


def bound_web_process() -> None:
    """Give the connections that this process opens from now on the deadlines of the settings."""
    for database in settings.DATABASES.values():
        # PgBouncer would refuse them; docs/deployment.md gives them to the role.
        if database["ENGINE"].endswith("postgresql") and settings.DATABASE_DIRECT is None:
            database["OPTIONS"] = bounded(
                database["OPTIONS"],
                statement_timeout=settings.STATEMENT_SECONDS,
                lock_timeout=settings.LOCK_SECONDS,
            )

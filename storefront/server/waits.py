"""Deadlines for the database statements and transactions of our processes.

A visitor never waits for ever, and a stalled statement never holds a thread that others need: statements of web
processes, and their waits for locks, have deadlines. The worker, commands and migrations have none: an import or a new
index may take long.

No process of ours keeps a transaction open in which nothing happens: all connections to PostgreSQL end such a session.
It would hold its locks, and the change feed of all shops, which ends before the oldest running transaction.
"""

from typing import Any

from django.conf import settings

IDLE = "idle_in_transaction_session_timeout"


def bounded(options: dict[str, Any], **seconds: int) -> dict[str, Any]:
    """PostgreSQL connection options with these of the server's time-outs, such as `lock_timeout=10`; 0: none. What the
    options set themselves stays."""
    given = options.get("options", "")
    added = [f"-c {name}={value}s" for name, value in seconds.items() if name not in given]
    return options | {"options": " ".join([given, *added]).strip()}


def bound_web_process() -> None:
    """Give the connections that this process opens from now on the deadlines of the settings."""
    database = settings.DATABASES["default"]
    # PgBouncer would refuse them; docs/deployment.md gives them to the role.
    if database["ENGINE"].endswith("postgresql") and settings.DATABASE_DIRECT is None:
        database["OPTIONS"] = bounded(
            database["OPTIONS"],
            statement_timeout=settings.STATEMENT_SECONDS,
            lock_timeout=settings.LOCK_SECONDS,
        )

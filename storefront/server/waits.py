"""Deadlines for the database statements of web processes, so that a visitor never waits for ever, and a stalled
statement never holds a thread that others need.

The worker, commands and migrations have none: an import or a new index may take long.
"""

from typing import Any

from django.conf import settings


def bounded(options: dict[str, Any], *, statement_seconds: int, lock_seconds: int) -> dict[str, Any]:
    """PostgreSQL connection options with these deadlines for a statement and for waiting for a lock; 0: none. What
    the options set themselves stays."""
    deadlines = {"statement_timeout": statement_seconds, "lock_timeout": lock_seconds}
    given = options.get("options", "")
    added = [f"-c {name}={seconds}s" for name, seconds in deadlines.items() if name not in given]
    return options | {"options": " ".join([given, *added]).strip()}


def bound_web_process() -> None:
    """Give the connections that this process opens from now on the deadlines of the settings."""
    database = settings.DATABASES["default"]
    # PgBouncer would refuse them; docs/deployment.md gives them to the role.
    if database["ENGINE"].endswith("postgresql") and settings.DATABASE_DIRECT is None:
        database["OPTIONS"] = bounded(
            database["OPTIONS"],
            statement_seconds=settings.STATEMENT_SECONDS,
            lock_seconds=settings.LOCK_SECONDS,
        )

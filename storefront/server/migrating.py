"""Lets one process at a time migrate a database, since two at once would both create the same tables."""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management import CommandError

from storefront.kit.direct import direct_copy

# Key of PostgreSQL's advisory lock, in the database that is migrated.
LOCK = 7_160_231
# How long to wait for another migration, which may rewrite large tables.
MAX_WAIT_SECONDS = 3600.0
POLL_SECONDS = 0.2


@contextmanager
def only_migration(
    connection: Any, on_wait: Callable[[], None], *, max_wait_seconds: float = MAX_WAIT_SECONDS
) -> Iterator[None]:
    """Hold the database's migration lock. Calls `on_wait` once if another process holds it.

    The lock ends with the process, whatever happens to it. Raises CommandError if the other one takes too long.
    """
    lock = _on_postgresql if connection.vendor == "postgresql" else _on_sqlite
    with lock(connection) as try_to_take:
        deadline = time.monotonic() + max_wait_seconds
        if not try_to_take():
            on_wait()
            while not try_to_take():
                if time.monotonic() >= deadline:
                    raise CommandError(
                        "Another process has been migrating this database for too long. Nothing was changed."
                    )
                time.sleep(POLL_SECONDS)
        yield


@contextmanager
def _on_postgresql(connection: Any) -> Iterator[Callable[[], bool]]:
    """On a connection of its own: migrations open and close transactions on theirs."""
    own = direct_copy(connection)

    def try_to_take() -> bool:
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
            return bool(cursor.fetchone()[0])

    try:
        yield try_to_take
    finally:
        own.close()


@contextmanager
def _on_sqlite(connection: Any) -> Iterator[Callable[[], bool]]:
    """On an empty file beside the database."""
    if connection.is_in_memory_db():
        yield lambda: True
        return
    with open(f"{connection.settings_dict['NAME']}.migrating", "w") as file:

        def try_to_take() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        yield try_to_take

"""Lets one process at a time migrate a database, since two at once would both create the same tables."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management import CommandError

from storefront.kit.dialect import dialect

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
    with dialect.migration_lock(connection) as try_to_take:
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

"""What rooms need of SQLite beside their own SQL. One transaction writes at a time, so rows need no locks."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db.models import Q

# Functions that make a JSON array of rows, and of the values of one.
JSON_ROWS, JSON_ROW = "json_group_array", "json_array"
# True if a WITH can write, so that several tables are written by one statement.
WRITES_IN_WITH = False
# Clauses that lock the rows of a SELECT.
SKIP_LOCKED = KEY_SHARE = ""
# A parameter that is a moment, where its type is not clear from the statement.
MOMENT = "%s"
_LAST = "\U0010ffff"


def limit_lock_wait(wait: str) -> None:
    """Bound how long the transaction's statements wait for locks, in a text such as `10s`. Does nothing: `timeout`
    bounds the wait for the write lock."""


def chosen_to_write(rows: str) -> str:
    """The condition that a column is among these rows, which the statement writes."""
    return f"IN ({rows})"


def begins_with(column: str, word: str) -> Q:
    """The condition that a column begins with the word, by its index: LIKE ignores case and so the index."""
    return Q(**{f"{column}__gte": word, f"{column}__lt": word + _LAST})


def prepared_cursor(connection: Any) -> Any:
    """A cursor for statements that are repeated. The driver caches statements itself."""
    return connection.cursor()


def existing_triggers(connection: Any) -> dict[str, str]:
    """The definitions of the existing triggers, tables and views, by kind and name."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT type || ' ' || name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return dict(cursor.fetchall())


def dropping(kind: str, name: str) -> str:
    """The statement that removes a trigger, table or view if it exists."""
    return f"DROP {kind} IF EXISTS {name}"


@contextmanager
def migration_lock(connection: Any) -> Iterator[Callable[[], bool]]:
    """Yields what tries to take the lock of migrations, which is on an empty file beside the database."""
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


def database_files(connection: Any) -> list[Path]:
    """The database with its `-wal` and `-shm` files."""
    name = str(connection.settings_dict["NAME"])
    return [Path(name + ending) for ending in ("", "-wal", "-shm")]

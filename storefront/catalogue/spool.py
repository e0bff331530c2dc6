"""Sets rows aside on disk and gives them back by group, so that memory stays flat however far apart they stand."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any

CHUNK = 500


class Spool(AbstractContextManager["Spool"]):
    """Rows under a group's name. A name can be made an alias of another group, before or after rows came in."""

    def __init__(self) -> None:
        # The empty name is SQLite's own temporary file: unnamed, spilled to disk, gone when closed.
        self._store = sqlite3.connect("", isolation_level=None)
        self._store.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA cache_size=-8000; BEGIN;"
            "CREATE TABLE row (grouping TEXT NOT NULL, line INTEGER NOT NULL, cells TEXT NOT NULL);"
            "CREATE TABLE alias (name TEXT PRIMARY KEY, grouping TEXT NOT NULL) WITHOUT ROWID;"
        )
        self._waiting: list[tuple[str, int, str]] = []

    def __exit__(self, *error: object) -> None:
        self._store.close()

    def add(self, group: str, line: int, cells: list[Any]) -> None:
        self._waiting.append((group, line, json.dumps(cells)))
        if len(self._waiting) >= CHUNK:
            self._flush()

    def alias(self, name: str, group: str) -> None:
        """Rows added under `name` belong to `group`; the first claim of a name stands."""
        self._store.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (name, group))

    def groups(self) -> Iterator[tuple[str, list[tuple[int, list[Any]]]]]:
        """Every group with its rows by line; groups in the order of their first lines."""
        self._flush()
        rows = self._store.execute(
            "WITH joined AS (SELECT coalesce(alias.grouping, row.grouping) AS name, line, cells "
            "FROM row LEFT JOIN alias ON alias.name = row.grouping) "
            "SELECT name, line, cells FROM joined "
            "JOIN (SELECT name, min(line) AS first FROM joined GROUP BY name) USING (name) ORDER BY first, name, line"
        )
        for name, members in groupby(rows, key=lambda row: row[0]):
            yield name, [(line, json.loads(cells)) for _, line, cells in members]

    def _flush(self) -> None:
        self._store.executemany("INSERT INTO row VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()


class Seen(AbstractContextManager["Seen"]):
    """Remembers keys on disk: what a dry run would have made by now."""

    def __init__(self) -> None:
        self._store = sqlite3.connect("", isolation_level=None)
        self._store.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA cache_size=-8000; BEGIN;"
            "CREATE TABLE seen (kind TEXT, value TEXT, PRIMARY KEY (kind, value)) WITHOUT ROWID;"
        )

    def __exit__(self, *error: object) -> None:
        self._store.close()

    def add(self, kind: str, value: Any) -> None:
        self._store.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (kind, str(value)))

    def __contains__(self, key: tuple[str, Any]) -> bool:
        kind, value = key
        return (
            self._store.execute("SELECT 1 FROM seen WHERE kind = ? AND value = ?", (kind, str(value))).fetchone()
            is not None
        )

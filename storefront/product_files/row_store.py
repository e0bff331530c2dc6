"""Stores rows on disk and returns them by group, so that memory stays flat wherever a group's rows are in the file."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any

CHUNK_ROWS = 500


class RowStore(AbstractContextManager["RowStore"]):
    """Rows by the name of their group. A name can become an alias of another group, before or after rows are added."""

    def __init__(self) -> None:
        # With an empty name, SQLite uses an unnamed temporary file, which is deleted when closed.
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA cache_size=-8000; BEGIN;"
            "CREATE TABLE row (grouping TEXT NOT NULL, line INTEGER NOT NULL, content TEXT NOT NULL);"
            "CREATE TABLE alias (name TEXT PRIMARY KEY, grouping TEXT NOT NULL) WITHOUT ROWID;"
        )
        self._pending: list[tuple[str, int, str]] = []

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, group: str, line: int, values: list[Any]) -> None:
        self._pending.append((group, line, json.dumps(values)))
        if len(self._pending) >= CHUNK_ROWS:
            self._flush()

    def alias(self, name: str, group: str) -> None:
        """Make rows added under `name` belong to `group`. If a name has an alias already, it stays."""
        self._database.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (name, group))

    def groups(self) -> Iterator[tuple[str, list[tuple[int, list[Any]]]]]:
        """Every group with its rows as (line, values), by line; groups in the order of their first lines."""
        self._flush()
        rows = self._database.execute(
            "WITH joined AS (SELECT coalesce(alias.grouping, row.grouping) AS name, line, content "
            "FROM row LEFT JOIN alias ON alias.name = row.grouping) "
            "SELECT name, line, content FROM joined "
            "JOIN (SELECT name, min(line) AS first FROM joined GROUP BY name) USING (name) ORDER BY first, name, line"
        )
        for name, members in groupby(rows, key=lambda row: row[0]):
            yield name, [(line, json.loads(content)) for _, line, content in members]

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO row VALUES (?, ?, ?)", self._pending)
        self._pending.clear()


class SeenKeys(AbstractContextManager["SeenKeys"]):
    """A set of keys on disk: those of the products that a dry run would have created so far."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA cache_size=-8000; BEGIN;"
            "CREATE TABLE seen (kind TEXT, value TEXT, PRIMARY KEY (kind, value)) WITHOUT ROWID;"
        )

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, kind: str, value: Any) -> None:
        self._database.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (kind, str(value)))

    def __contains__(self, key: tuple[str, Any]) -> bool:
        kind, value = key
        return (
            self._database.execute("SELECT 1 FROM seen WHERE kind = ? AND value = ?", (kind, str(value))).fetchone()
            is not None
        )

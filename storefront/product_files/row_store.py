"""Stores rows on disk and returns them by group, so that memory stays flat wherever a group's rows are in the file."""

import json
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import groupby
from typing import Any

from storefront.kit.runs import runs_of

CHUNK_ROWS = 500


class RowStore(AbstractContextManager["RowStore"]):
    """Rows by the name of their group. A name can become an alias of another group, before or after rows are added."""

    def __init__(self) -> None:
        self._database = _temporary_database(
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


class SeenProducts(ExitStack):
    """The products of a file so far, on disk: their keys, and the existing products that they are."""

    def __init__(self) -> None:
        super().__init__()
        self._database = _temporary_database(
            "CREATE TABLE key (text TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID;"
            "CREATE TABLE matched (id INTEGER PRIMARY KEY, line INTEGER NOT NULL);"
            "CREATE TABLE created (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, lines BLOB NOT NULL);"
        )
        self.callback(self._database.close)
        # Between the lowest and the highest id of those that were created.
        self._created: range = range(0)

    def enter(self, counts: "TextCounts") -> "TextCounts":
        """Close these counts when this object is closed."""
        return self.enter_context(counts)

    def add_keys(self, keys: Iterable[tuple[str, int]]) -> None:
        """Add keys, each with the line of its product."""
        self._database.executemany("INSERT OR IGNORE INTO key VALUES (?, ?)", keys)

    def lines_of(self, keys: Collection[str]) -> dict[str, int]:
        """The line of each of these keys that was added."""
        statement = "SELECT text, line FROM key WHERE text IN (SELECT value FROM json_each(?))"
        return dict(self._database.execute(statement, [json.dumps(list(keys))]).fetchall())

    def add_matched(self, products: Iterable[tuple[int, int]]) -> None:
        """Add existing products as (id, line)."""
        self._database.executemany("INSERT OR IGNORE INTO matched VALUES (?, ?)", products)

    def add_created(self, ids: Sequence[int], lines: Sequence[int]) -> None:
        """Add products that the import has created, with their lines. Ids are in ascending order, and higher than those
        that were added before."""
        place = 0
        for first, last in runs_of(ids):
            of_run = array("q", lines[place : place + last - first + 1])
            self._database.execute("INSERT INTO created VALUES (?, ?, ?)", (last, first, of_run.tobytes()))
            place += len(of_run)
            self._created = range(self._created.start or first, last + 1)

    def products(self, ids: Collection[int]) -> dict[int, tuple[int, bool]]:
        """For each of these products that was added: its line, and True if this import created it."""
        statement = "SELECT id, line FROM matched WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._database.execute(statement, [json.dumps(list(ids))]).fetchall()
        found = {id: (line, False) for id, line in rows}
        for id in (id for id in ids if id in self._created):
            statement = "SELECT first, lines FROM created WHERE last >= ? ORDER BY last LIMIT 1"
            for first, lines in self._database.execute(statement, (id,)):
                if first <= id:
                    found[id] = (array("q", lines)[id - first], True)
        return found


class TextCounts(AbstractContextManager["TextCounts"]):
    """Finds texts that occur more than once, with a database on disk."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._database = _temporary_database("CREATE TABLE text (text TEXT NOT NULL);")
        self._database.executemany("INSERT INTO text VALUES (?)", ((text,) for text in texts))
        self._database.executescript(
            "CREATE TABLE repeated (text TEXT PRIMARY KEY) WITHOUT ROWID;"
            "INSERT INTO repeated SELECT text FROM text GROUP BY text HAVING count(*) > 1; DROP TABLE text;"
        )

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def occurs_again(self, text: str) -> bool:
        """Returns True if the text occurs more than once."""
        return self._database.execute("SELECT 1 FROM repeated WHERE text = ?", (text,)).fetchone() is not None


def _temporary_database(tables: str) -> sqlite3.Connection:
    """A database in an unnamed temporary file, which SQLite deletes when it is closed."""
    database = sqlite3.connect("", isolation_level=None)
    database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA cache_size=-8000; BEGIN; {tables}")
    return database

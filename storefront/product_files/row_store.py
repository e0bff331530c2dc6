"""Stores rows on disk and returns them by group, so that memory stays flat wherever a group's rows are in the file.

A group is imported completely or not at all: one with a row that was refused is returned as a Failure.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _

from storefront.product_files.parsed_products import Failure, Problem

CHUNK_ROWS = 500
# Rows of one group, and characters in them, that are held in memory. A group with more is not read.
MAX_GROUP_ROWS, MAX_GROUP_SIZE = 20_000, 32 << 20
# A row of a group: its line and its values.
GroupRow = tuple[int, list[Any]]


class RowStore(AbstractContextManager["RowStore"]):
    """Rows by the name of their group. A name can become an alias of another group, before or after rows are added."""

    def __init__(self) -> None:
        self._database = temporary_database(
            "CREATE TABLE row (grouping TEXT NOT NULL, line INTEGER NOT NULL, content TEXT NOT NULL);"
            "CREATE TABLE alias (name TEXT PRIMARY KEY, grouping TEXT NOT NULL) WITHOUT ROWID;"
            "CREATE TABLE claim (name TEXT NOT NULL, grouping TEXT NOT NULL, owner TEXT NOT NULL,"
            " line INTEGER NOT NULL);"
            "CREATE TABLE mention (name TEXT NOT NULL, line INTEGER NOT NULL, content TEXT NOT NULL);"
        )
        self._pending: list[tuple[str, int, str]] = []

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, group: str, line: int, values: list[Any]) -> None:
        self._pending.append((group, line, json.dumps(values)))
        if len(self._pending) >= CHUNK_ROWS:
            self._flush()

    def refuse(self, group: str, problems: Iterable[Problem]) -> None:
        """Refuse the whole group, for these reasons."""
        for problem in problems:
            self._pending.append(
                (group, problem.line, json.dumps({"column": problem.column, "reason": problem.reason}))
            )

    def refuse_if_any(self, names: Iterable[str], problem: Problem) -> None:
        """Refuse each group or alias of these names, if there is one at the end."""
        content = json.dumps({"column": problem.column, "reason": problem.reason})
        rows = ((name, problem.line, content) for name in names)
        self._database.executemany("INSERT INTO mention VALUES (?, ?, ?)", rows)

    def alias(self, name: str, group: str) -> None:
        """Make rows added under `name` belong to `group`. If a name has an alias already, it stays."""
        self._database.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (name, group))

    def claim(self, name: str, group: str, owner: str, line: int) -> None:
        """As `alias`, for a name that several owners can have: then rows added under it are refused with the groups of
        all of them, since they could belong to any."""
        self._database.execute("INSERT INTO claim VALUES (?, ?, ?, ?)", (name, group, owner, line))
        self.alias(name, group)

    def _refuse_ambiguous(self) -> None:
        claims = self._database.execute(
            "SELECT name, grouping, line FROM claim WHERE name IN (SELECT name FROM claim GROUP BY name"
            " HAVING count(DISTINCT owner) > 1) AND name IN (SELECT grouping FROM row) ORDER BY name, line"
        ).fetchall()
        for name, same in groupby(claims, key=lambda claim: claim[0]):
            groups = [(group, line) for _owner, group, line in same]
            both = {"first": groups[0][1], "second": groups[1][1], "name": name.partition(":")[2][:100]}
            under = self._database.execute("SELECT line FROM row WHERE grouping = ?", (name,)).fetchall()
            for (line,) in under:
                self.refuse(
                    groups[0][0],
                    [
                        Problem(
                            line,
                            "",
                            _("its parent is not certain: lines %(first)s and %(second)s are both %(name)s") % both,
                        )
                    ],
                )
            for group, line in groups:
                reason = _(
                    "is not imported, since lines %(first)s and %(second)s are both %(name)s, which line %(line)s "
                    "names as its parent"
                ) % {**both, "line": under[0][0]}
                self.refuse(group, [Problem(line, "", reason)])
        self._flush()

    def groups(self) -> Iterator[tuple[str, list[GroupRow]] | Failure]:
        """Every group with its rows, by line; groups in the order of their first lines. A Failure for a group that is
        too large, or refused."""
        self._flush()
        self._refuse_ambiguous()
        self._database.execute(
            "INSERT INTO row SELECT DISTINCT coalesce(alias.grouping, mention.name), line, content "
            "FROM mention LEFT JOIN alias ON alias.name = mention.name "
            "WHERE coalesce(alias.grouping, mention.name) IN (SELECT coalesce(alias.grouping, row.grouping) "
            "FROM row LEFT JOIN alias ON alias.name = row.grouping)"
        )
        rows = self._database.execute(
            "WITH joined AS (SELECT coalesce(alias.grouping, row.grouping) AS name, line, content "
            "FROM row LEFT JOIN alias ON alias.name = row.grouping) "
            "SELECT name, line, content FROM joined "
            "JOIN (SELECT name, min(line) AS first FROM joined GROUP BY name) USING (name) ORDER BY first, name, line"
        )
        for name, members in groupby(rows, key=lambda row: row[0]):
            yield _group(name, ((line, content) for _name, line, content in members))

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO row VALUES (?, ?, ?)", self._pending)
        self._pending.clear()


def _group(name: str, stored: Iterator[tuple[int, str]]) -> tuple[str, list[GroupRow]] | Failure:
    """The group of these rows, each with its values in JSON."""
    rows: list[GroupRow] = []
    refusals: list[Problem] = []
    size = 0
    for line, content in stored:
        size += len(content)
        if len(rows) + len(refusals) == MAX_GROUP_ROWS or size > MAX_GROUP_SIZE:
            count = len(rows) + len(refusals) + 1 + sum(1 for _row in stored)
            reason = _("the product has %(count)s rows; at most %(most)s are read, with %(size)s characters") % {
                "count": f"{count:,}",
                "most": f"{MAX_GROUP_ROWS:,}",
                "size": f"{MAX_GROUP_SIZE:,}",
            }
            return Failure([Problem(rows[0][0] if rows else line, "", reason)])
        values = json.loads(content)
        if isinstance(values, dict):
            refusals.append(Problem(line, **values))
        else:
            rows.append((line, values))
    return Failure(refusals) if refusals else (name, rows)


class SeenProducts(AbstractContextManager["SeenProducts"]):
    """The products of a file so far, on disk: their keys, and which products of the shop they are."""

    def __init__(self) -> None:
        self._database = temporary_database(
            "CREATE TABLE key (text TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID;"
            "CREATE TABLE product (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, is_created INTEGER NOT NULL);"
            "CREATE TABLE text (text TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;"
        )

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add_keys(self, keys: Iterable[tuple[str, int]]) -> None:
        """Add keys, each with the line of its product."""
        self._database.executemany("INSERT OR IGNORE INTO key VALUES (?, ?)", keys)

    def lines_of(self, keys: Collection[str]) -> dict[str, int]:
        """The line of each of these keys that was added."""
        statement = "SELECT text, line FROM key WHERE text IN (SELECT value FROM json_each(?))"
        return dict(self._database.execute(statement, [json.dumps(list(keys))]).fetchall())

    def add_products(self, products: Iterable[tuple[int, int]], *, are_created: bool) -> None:
        """Add products of the shop as (id, line): existing ones, or ones that the import has created."""
        rows = ((id, line, are_created) for id, line in products)
        self._database.executemany("INSERT OR IGNORE INTO product VALUES (?, ?, ?)", rows)

    def products(self, ids: Collection[int]) -> dict[int, tuple[int, bool]]:
        """For each of these products that was added: its line, and True if this import created it."""
        statement = "SELECT id, line, is_created FROM product WHERE id IN (SELECT value FROM json_each(?))"
        rows = self._database.execute(statement, [json.dumps(list(ids))])
        return {id: (line, bool(is_created)) for id, line, is_created in rows}

    def count_texts(self, texts: Iterable[str]) -> None:
        """Count these texts, for `is_repeated`."""
        statement = "INSERT INTO text VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1"
        self._database.executemany(statement, ((text,) for text in texts))

    def is_repeated(self, text: str) -> bool:
        """Returns True if the text was counted more than once."""
        found = self._database.execute("SELECT count FROM text WHERE text = ?", (text,)).fetchone()
        return found is not None and found[0] > 1


def temporary_database(tables: str) -> sqlite3.Connection:
    """A database in an unnamed temporary file, which SQLite deletes when it is closed."""
    database = sqlite3.connect("", isolation_level=None)
    database.executescript(f"PRAGMA journal_mode=OFF; PRAGMA cache_size=-8000; BEGIN; {tables}")
    return database

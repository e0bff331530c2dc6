"""Creates databases of earlier releases, and reads their rows and schemas."""

import gzip
import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

HERE = Path(__file__).parent
RELEASES = sorted(folder.name for folder in HERE.iterdir() if (folder / "storefront.sqlite3.gz").exists())
Rows = dict[str, dict[Any, dict[str, Any]]]
# Kept by SQLite's search index and sequences for themselves.
INTERNAL = ("sqlite_", "catalogue_searchindex")


class Database:
    """A database outside Django, named by the variables in `environment`."""

    def __init__(self, directory: Path, url: str) -> None:
        self.file = directory / "storefront.sqlite3"
        self.url = url
        self.environment = {"STOREFRONT_DATA_DIR": str(directory)} | ({"DATABASE_URL": url} if url else {})

    def fetch(self, statement: str) -> list[dict[str, Any]]:
        if self.url:
            with psycopg.connect(self.url, row_factory=psycopg.rows.dict_row) as connection:
                return connection.execute(statement).fetchall()
        with closing(sqlite3.connect(self.file)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement)]

    def run(self, script: str) -> None:
        if not self.url:
            with closing(sqlite3.connect(self.file)) as connection:
                connection.executescript(script)
            return
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(script)

    def tables(self) -> list[str]:
        if self.url:
            found = self.fetch(
                f"SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND {whole('tablename')}"
            )
        else:
            found = self.fetch("SELECT name FROM sqlite_master WHERE type = 'table'")
        return sorted(row["name"] for row in found if not row["name"].startswith(INTERNAL))

    def key_of(self, table: str) -> list[str]:
        if self.url:
            return [
                row["attname"]
                for row in self.fetch(
                    "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
                    f"AND a.attnum = ANY(i.indkey) WHERE i.indrelid = 'public.{table}'::regclass AND i.indisprimary "
                    # The key of a table that is divided by time ends with the time.
                    "AND (a.attname = 'id' OR 'p' <> (SELECT relkind FROM pg_class WHERE oid = i.indrelid))"
                )
            ]
        return [row["name"] for row in self.fetch(f"PRAGMA table_info({table})") if row["pk"]]

    def rows(self) -> Rows:
        """Every row of every table, by its primary key."""
        found: Rows = {}
        for table in self.tables():
            key = self.key_of(table)
            rows = self.fetch(f'SELECT * FROM "{table}"')
            found[table] = {tuple(row[name] for name in key) or str(row): row for row in rows}
        return found

    def schema(self) -> set[tuple[Any, ...]]:
        """Columns, indexes, constraints and triggers. Their order is left out: it follows from when each was added."""
        if self.url:
            return {tuple(row.values()) for statement in POSTGRESQL_SCHEMA for row in self.fetch(statement)}
        return {*self._sqlite_columns(), *self._sqlite_objects()}

    def _sqlite_columns(self) -> Iterator[tuple[Any, ...]]:
        for table in self.tables():
            for row in self.fetch(f"PRAGMA table_info({table})"):
                yield table, row["name"], row["type"], row["notnull"], row["pk"]
            (made,) = self.fetch(f"SELECT sql FROM sqlite_master WHERE name = '{table}'")
            # Constraints stand in the statement that made the table, among the columns.
            for name in made["sql"].split('CONSTRAINT "')[1:]:
                yield table, "constraint", name.partition('"')[0]

    def _sqlite_objects(self) -> Iterator[tuple[Any, ...]]:
        made = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') AND sql NOT NULL"
        for row in self.fetch(made):
            yield row["type"], row["name"], " ".join(row["sql"].split())


def whole(name: str, *, pattern: bool = False) -> str:
    """The condition that this table is not a partition, of which there are as many as the database is old, or the one
    that is the pattern of the others."""
    kept = f"{name} LIKE '%\\_default'" if pattern else "false"
    return f"({name} NOT IN (SELECT relname FROM pg_class WHERE relispartition) OR {kept})"


# Django names the constraint of a column that becomes unique, PostgreSQL that of one that is made so.
NAME = "regexp_replace({}, '_[0-9a-f]{{8}}_uniq$', '_key')"
POSTGRESQL_SCHEMA = (
    "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable "
    f"FROM information_schema.columns WHERE table_schema = 'public' AND {whole('table_name', pattern=True)}",
    # Without their conditions, which a restored dump writes in other words.
    f"SELECT conrelid::regclass::text, {NAME.format('conname')}, contype FROM pg_constraint"
    f" WHERE connamespace = 'public'::regnamespace AND {whole('conrelid::regclass::text')}",
    # PostgreSQL numbers the names of a partition's indexes in the order in which they are made.
    f"SELECT tablename, CASE WHEN tablename LIKE '%\\_default' THEN '' ELSE {NAME.format('indexname')} END,"
    " split_part(replace(indexdef, indexname, ''), ' WHERE ', 1)"
    f" FROM pg_indexes WHERE schemaname = 'public' AND {whole('tablename', pattern=True)}",
    "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
    " AND tgparentid = 0",
    "SELECT p.proname, p.prosrc FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace "
    "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')",
)


@contextmanager
def new_database(directory: Path) -> Iterator[Database]:
    """An empty database, on the tests' server if there is one."""
    server = os.environ.get("TEST_POSTGRES_URL")
    if not server:
        yield Database(directory, "")
        return
    name = f"test_upgrade_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        yield Database(directory, f"{server.rpartition('/')[0]}/{name}")
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def database_of(release: str, directory: Path) -> Iterator[Database]:
    """A copy of the release's filled database."""
    with new_database(directory) as database:
        if database.url:
            script = gzip.decompress((HERE / release / "postgresql.sql.gz").read_bytes()).decode()
            # Lines for psql, which is not what runs them here. A text may hold what `splitlines` splits at.
            database.run("\n".join(line for line in script.split("\n") if not line.startswith("\\")))
        else:
            database.file.write_bytes(gzip.decompress((HERE / release / "storefront.sqlite3.gz").read_bytes()))
        yield database

"""Pod 0's side of the registry: its publication, and what a pod checks there before it joins.

What a pod reads becomes its accounts. So it takes nothing but the registry's tables, whole, of pod 0, of the same
release: a publication that has other tables, columns or rows is refused, whoever made it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from storefront.pods.registry import PUBLICATION, TABLES

MAX_CONNECT_SECONDS = 10
# A copy of the registry takes seconds. A slot waits for transactions that run, whose locks it asks for.
_OPTIONS = "-c statement_timeout=300000 -c lock_timeout=60000"
_TABLES = """
    SELECT tablename, rowfilter IS NULL AND cardinality(attnames) = (
        SELECT count(*) FROM pg_attribute WHERE attrelid = format('%%I.%%I', schemaname, tablename)::regclass
        AND attnum > 0 AND NOT attisdropped)
    FROM pg_publication_tables WHERE pubname = %s
"""
_MIGRATIONS = "SELECT app, name FROM django_migrations"


class NotJoined(Exception):
    """The pod cannot read the registry of pod 0 so. The text is a sentence for people."""


def publish(cursor: Any) -> None:
    """Publish the registry's tables. Changes nothing if they are published."""
    cursor.execute("SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = %s)", [PUBLICATION])
    tables = ", ".join(TABLES)
    if not cursor.fetchone()[0]:
        # No TRUNCATE: emptied accounts in pod 0 are an accident, which must not reach the others.
        cursor.execute(f"CREATE PUBLICATION {PUBLICATION} FOR TABLE {tables} WITH (publish = 'insert, update, delete')")
    elif problem_of_publication(cursor):
        cursor.execute(f"ALTER PUBLICATION {PUBLICATION} SET TABLE {tables}")
        cursor.execute(f"ALTER PUBLICATION {PUBLICATION} SET (publish = 'insert, update, delete')")


@contextmanager
def connected(url: str, **given: Any) -> Iterator[Any]:
    """A connection to pod 0's database. Raises NotJoined if there is none."""
    try:
        with psycopg.connect(
            url, connect_timeout=MAX_CONNECT_SECONDS, autocommit=True, prepare_threshold=None, options=_OPTIONS, **given
        ) as there:
            yield there
    except psycopg.OperationalError as error:
        raise NotJoined(f"Pod 0's database cannot be used: {short(error)}") from None
    except psycopg.ProgrammingError as error:
        # A mistyped URL can have a password in it, which must not be printed.
        reason = (
            short(error) if error.sqlstate else "--from is not understood; expected postgres://user:password@host/name"
        )
        raise NotJoined(f"Pod 0's database cannot be used: {reason}.") from None


def check(there: Any, *, migrations: set[tuple[str, str]]) -> None:
    """Raises NotJoined if a pod with these migrations cannot read this database's registry."""
    for problem in (
        _problem_of_server(there),
        _problem_of_release(there, migrations),
        problem_of_publication(there.cursor()),
    ):
        if problem:
            raise NotJoined(problem)


def _problem_of_server(there: Any) -> str:
    if not _value(there, "SELECT to_regclass('pods_ownpod') IS NOT NULL"):
        return "--from does not lead to a database of Storefront."
    if number := _value(there, "SELECT coalesce((SELECT number FROM pods_ownpod), 0)"):
        return f"--from leads to pod {number}. The registry is that of pod 0."
    if _value(there, "SELECT count(*) FROM pg_subscription WHERE subname = %s", PUBLICATION):
        return "--from leads to a database that reads a registry itself."
    if (level := _value(there, "SHOW wal_level")) != "logical":
        return f"Pod 0's PostgreSQL has wal_level = {level}. Set it to logical, and restart that server."
    if not _value(there, "SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user"):
        return "The user of --from may not replicate. ALTER ROLE ... REPLICATION gives the right."
    return ""


def _problem_of_release(there: Any, here: set[tuple[str, str]]) -> str:
    found = set(there.execute(_MIGRATIONS).fetchall())
    if found == here:
        return ""
    differing = ", ".join(".".join(each) for each in sorted(found ^ here)[:5])
    return f"Pod 0 has another release: only one of both has {differing}. Migrate pod 0 first, then this pod."


def problem_of_publication(cursor: Any) -> str:
    """Why the publication is not that of the registry; empty if it is."""
    cursor.execute(
        "SELECT puballtables, pubinsert AND pubupdate AND pubdelete AND NOT pubtruncate FROM pg_publication"
        " WHERE pubname = %s",
        [PUBLICATION],
    )
    found = cursor.fetchall()
    if not found:
        return "Pod 0 does not publish its registry yet. Run storefront registry publish there."
    cursor.execute(_TABLES, [PUBLICATION])
    tables = dict(cursor.fetchall())
    is_right = found == [(False, True)] and set(tables) == set(TABLES) and all(tables.values())
    wrong = f"The publication {PUBLICATION} in pod 0 does not have exactly the registry's tables, whole."
    return "" if is_right else f"{wrong} Run storefront registry publish there, with this release."


def copy_rows(there: Any, cursor: Any, table: str) -> None:
    """Copy the table's rows from there into a temporary table `new_...` here."""
    cursor.execute(f"CREATE TEMP TABLE new_{table} (LIKE {table}) ON COMMIT DROP")
    names = sql.SQL(", ").join(map(sql.Identifier, columns(cursor, table)))
    read = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(table), names)
    write = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(f"new_{table}"), names)
    with there.cursor().copy(read) as rows, cursor.copy(write) as copies:
        for block in rows:
            copies.write(block)


def columns(cursor: Any, table: str) -> list[str]:
    cursor.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum",
        [table],
    )
    return [name for (name,) in cursor.fetchall()]


def short(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _value(there: Any, query: str, *given: Any) -> Any:
    return there.execute(query, given).fetchone()[0]

"""The PostgreSQL server to measure, if one answers, and the benchmark's databases on it."""

import getpass
import hashlib
import os
from contextlib import closing
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql


def answering_server() -> str | None:
    """The URL of the server that TEST_POSTGRES_URL names, or of a local one without password, or None."""
    if named := os.environ.get("TEST_POSTGRES_URL"):
        return named
    for user in (getpass.getuser(), "postgres"):
        url = f"postgres://{user}@127.0.0.1:5432/postgres"
        try:
            psycopg.connect(url, connect_timeout=3).close()
        except psycopg.OperationalError:
            continue
        return url
    return None


def database_name(folder: object, size: int) -> str:
    return f"{_name_prefix(folder)}{size}"


def with_name(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def create(server: str, name: str) -> None:
    """Create an empty database, replacing one of this name."""
    drop(server, name)
    _execute(server, sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(sql.Identifier(name)))


def drop(server: str, name: str) -> None:
    _execute(server, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def drop_all(server: str, folder: object) -> None:
    """Drop every database that was created for this folder."""
    with closing(psycopg.connect(server)) as connection:
        names = connection.execute("SELECT datname FROM pg_database").fetchall()
    for (name,) in names:
        if name.startswith(_name_prefix(folder)):
            drop(server, name)


def vacuum(database: str) -> None:
    """Do what autovacuum would do later."""
    _execute(database, sql.SQL("VACUUM ANALYZE"))


def version(server: str) -> str:
    with closing(psycopg.connect(server)) as connection:
        return str(connection.info.parameter_status("server_version"))


def _name_prefix(folder: object) -> str:
    """A name prefix per checkout, since several checkouts may use the same server."""
    return f"storefront_bench_{hashlib.sha256(str(folder).encode()).hexdigest()[:6]}_"


def _execute(url: str, statement: sql.SQL | sql.Composed) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        connection.execute(statement)

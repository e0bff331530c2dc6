import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from werkzeug.test import Client

from storefront.server import listening
from storefront.server.edge import Edge
from storefront.server.wsgi import Application, application
from tests.server.programs import storefront

COLLECT = "from storefront.server.readiness import collect_static_files; collect_static_files()"


@pytest.fixture(scope="session")
def migrated(tmp_path_factory) -> Iterator[dict[str, str]]:
    """A migrated database with the static files beside it, to be copied and never written to; made once."""
    directory = tmp_path_factory.mktemp("migrated")
    with database(directory) as environment:
        result = storefront("migrate", "--verbosity=0", **environment)
        assert result.returncode == 0, result.stderr
        result = storefront("shell", "--no-imports", "-c", COLLECT, **environment)
        assert result.returncode == 0, result.stderr
        yield environment


@pytest.fixture
def deployment(migrated, tmp_path) -> Iterator[dict[str, str]]:
    """Environment variables that name a data directory and a migrated database of this test's own."""
    with database(tmp_path, copied_from=migrated) as environment:
        yield environment


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No answer that the next test could get, and no connection to a database that is about to go."""
    yield
    listening.stop()
    application.memory.clear()


@pytest.fixture
def wsgi(db) -> Iterator[Client]:
    """The application as the server calls it, without Django's test client, but inside the test's transaction, which
    closing the connection at a request's end would lose. Nothing is committed there, so nothing is remembered."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield Client(Edge(Application(), capacity=0))
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


class database:  # noqa: N801, it reads as a word
    """The variables that name a new database: a file in the directory, or one on the server that tests use."""

    def __init__(self, directory: Path, copied_from: dict[str, str] | None = None) -> None:
        self.directory, self.source = directory, copied_from
        self.server = os.environ.get("TEST_POSTGRES_URL")
        self.name = f"test_storefront_{uuid.uuid4().hex[:12]}"

    def __enter__(self) -> dict[str, str]:
        environment = {"STOREFRONT_DATA_DIR": str(self.directory)}
        if self.source:
            shutil.copytree(Path(self.source["STOREFRONT_DATA_DIR"]) / "static", self.directory / "static")
        if self.server:
            url = f"{self.server.rpartition('/')[0]}/{self.name}"
            template = f" TEMPLATE {self.source['DATABASE_URL'].rpartition('/')[2]}" if self.source else ""
            self.execute(f"CREATE DATABASE {self.name}{template}")
            return environment | {"DATABASE_URL": url}
        if self.source:
            for file in Path(self.source["STOREFRONT_DATA_DIR"]).glob("storefront.sqlite3*"):
                shutil.copy(file, self.directory)
        return environment

    def __exit__(self, *_error) -> None:
        if self.server:
            self.execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        assert self.server
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)

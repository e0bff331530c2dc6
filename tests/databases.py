"""Databases of programs: each a copy of the one that tests use, as it was when it had just been migrated.

Migrating takes ten seconds, so that it happens once.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from tests.server.programs import storefront

COLLECT = "from storefront.server.readiness import collect_static_files; collect_static_files()"


class database:  # noqa: N801, it reads as a word
    """The variables that name a new database: a file in the directory, or one on the server that tests use.

    `template` is the name, or the file, of one that nobody is connected to; `copied_from` the variables of one."""

    def __init__(self, directory: Path, *, copied_from: dict[str, str] | None = None, template: str = "") -> None:
        self.directory, self.source, self.template = directory, copied_from, template
        self.server = os.environ.get("TEST_POSTGRES_URL")
        self.name = f"test_storefront_{uuid.uuid4().hex[:12]}"
        if copied_from:
            file = str(Path(copied_from["STOREFRONT_DATA_DIR"]) / "storefront.sqlite3")
            self.template = copied_from["DATABASE_URL"].rpartition("/")[2] if self.server else file

    def __enter__(self) -> dict[str, str]:
        environment = {"STOREFRONT_DATA_DIR": str(self.directory)}
        if self.source:
            shutil.copytree(Path(self.source["STOREFRONT_DATA_DIR"]) / "static", self.directory / "static")
        if self.server:
            template = f" TEMPLATE {self.template}" if self.template else ""
            self.execute(f"CREATE DATABASE {self.name}{template}")
            return environment | {"DATABASE_URL": f"{self.server.rpartition('/')[0]}/{self.name}"}
        if self.template:
            shutil.copy(self.template, self.directory / "storefront.sqlite3")
        return environment

    def __exit__(self, *_error) -> None:
        if self.server:
            self.execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        assert self.server
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[dict[str, str]]:
    """The tests' own database, and a copy of it from before the first test writes to it, whose variables it gives."""
    directory = tmp_path_factory.mktemp("migrated")
    with django_db_blocker.unblock():
        name = str(connection.settings_dict["NAME"])
        was_made = name == connection.creation._get_test_db_name()
        if connection.vendor == "postgresql" and was_made:
            # Nobody needs what a test committed after a power cut; in copies, the programs' own settings hold.
            connection.cursor().execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
            connection.close()
            connection.close_pool()
        connection.close()
    with database(directory, template=name if was_made else "") as environment:
        # Where no chosen test asks for the tests' own, there is none.
        if not was_made:
            succeed("migrate", "--verbosity=0", environment=environment)
        yield environment


@pytest.fixture(scope="session")
def migrated(django_db_setup) -> dict[str, str]:
    """A migrated database with the static files beside it, to be copied and never written to; made once."""
    succeed("shell", "--no-imports", "-c", COLLECT, environment=django_db_setup)
    return django_db_setup


@pytest.fixture
def deployment(migrated, tmp_path) -> Iterator[dict[str, str]]:
    """Environment variables that name a data directory and a migrated database of this test's own."""
    with database(tmp_path, copied_from=migrated) as environment:
        yield environment


def succeed(*arguments: str, environment: dict[str, str]) -> None:
    result = storefront(*arguments, **environment)
    assert result.returncode == 0, result.stderr

"""Databases for tests, and for programs that tests start: copies of one that was migrated.

Migrating takes seconds. On SQLite, a migrated database is kept in the virtual environment, under a digest of all that
migrations depend on, and later runs start from it.
"""

import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from storefront.shops import announcing
from tests.server.programs import storefront

COLLECT = "from storefront.server.readiness import collect_static_files; collect_static_files()"


class database:  # noqa: N801, used like a function
    """Creates a database and gives its environment variables: a file in the directory, or one on the tests' server.

    It is a copy of `template`, a name or file without connections, or of the database of the variables `copied_from`.
    """

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
            copy = shutil.copy(self.template, self.directory / "storefront.sqlite3")
            Path(copy).chmod(0o600)  # as a deployment makes it
        return environment

    def __exit__(self, *_error) -> None:
        if self.server:
            self.execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        assert self.server
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement)


def kept_database() -> Path:
    """Where the SQLite database that these migrations make is kept."""
    digest = sha256()
    steps = sorted(Path("storefront").glob("*/migrations/*.py"))
    for path in [Path("uv.lock"), Path("storefront/server/migration_state.py"), *steps]:
        digest.update(f"{path}\n".encode() + path.read_bytes())
    return Path(sys.prefix) / "migrated" / f"{digest.hexdigest()[:32]}.sqlite3"


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings) -> bool:
    """Whether there is a migrated database already, which Django then only looks through."""
    if connection.vendor != "sqlite" or not kept_database().exists():
        return False
    shutil.copy(kept_database(), connection.creation._get_test_db_name())
    return True


def keep(name: str) -> None:
    """Keep this migrated SQLite database for later runs, in the place of one for other migrations."""
    kept = kept_database()
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        # Workers do this at once, each with a draft of its own.
        draft = kept.with_suffix(f".{os.getpid()}")
        shutil.copy(name, draft)
        draft.rename(kept)
        for other in set(kept.parent.glob("*.sqlite3")) - {kept}:
            other.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[dict[str, str]]:
    """Creates the tests' database and a copy of it before the first test. Returns the copy's environment variables."""
    directory = tmp_path_factory.mktemp("migrated")
    with django_db_blocker.unblock():
        name = str(connection.settings_dict["NAME"])
        was_made = name == connection.creation._get_test_db_name()
        if connection.vendor == "postgresql" and was_made:
            # Tests need no durability. Copies do not inherit this setting.
            connection.cursor().execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
            connection.close()
            connection.close_pool()
        connection.close()
    if connection.vendor == "sqlite" and was_made:
        keep(name)
    with database(directory, template=name if was_made else "") as environment:
        # Without tests that use the database, there is none to copy.
        if not was_made:
            succeed("migrate", "--verbosity=0", environment=environment)
        yield environment
    # Its connection would keep the tests' database from being dropped.
    announcing.stop()


@pytest.fixture(scope="session")
def migrated(django_db_setup) -> dict[str, str]:
    """The variables of a migrated database with static files. Made once; copy it, and never write to it."""
    succeed("shell", "--no-imports", "-c", COLLECT, environment=django_db_setup)
    return django_db_setup


@pytest.fixture
def deployment(migrated, tmp_path) -> Iterator[dict[str, str]]:
    """Environment variables of a data directory and a migrated database for this test alone."""
    with database(tmp_path, copied_from=migrated) as environment:
        yield environment


def succeed(*arguments: str, environment: dict[str, str]) -> None:
    result = storefront(*arguments, **environment)
    assert result.returncode == 0, result.stderr

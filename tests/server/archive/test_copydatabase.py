"""`storefront copydatabase` to a PostgreSQL server, as its user who owns the database and nothing else."""

import json
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.db import OperationalError, connection

from storefront.content.actions import add_usual_pages
from storefront.content.models import Page
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.server.archive.copying import copy_database
from storefront.server.archive.dialect import dialect
from storefront.server.command import Failed
from tests.docs.guides import run_guide
from tests.server.clusters import Cluster, programs
from tests.server.programs import STOREFRONT, running, storefront, wait_until
from tests.shops.factories import NOW

pytestmark = pytest.mark.proof

FILL = """
from storefront.shops.models import Shop
from tests.server.archive.shops import fill
from tests.shops.factories import make_shop
for domain in ("shop.example.com", "other.example.com"):
    fill(make_shop(domain))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    found = programs()
    if not found:
        pytest.skip("PostgreSQL's programs are not installed")
    directory = Path(tempfile.mkdtemp(prefix="storefront-copy-"))
    cluster = Cluster(directory, found)
    try:
        if cluster.user == "postgres":
            shutil.chown(directory, cluster.user)
        cluster.make_empty()
        with psycopg.connect(cluster.url, autocommit=True) as admin:
            admin.execute("CREATE ROLE shop LOGIN")
        yield cluster
    finally:
        cluster.kill()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def target(server) -> str:
    """The URL of an empty database, of an ordinary user."""
    name = f"copy_{uuid4().hex[:8]}"
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} OWNER shop")
    return f"postgres://shop@127.0.0.1:{server.port}/{name}"


@pytest.fixture
def source(deployment) -> dict[str, str]:
    """The environment of a deployment with two shops."""
    assert storefront("shell", "--no-imports", "-c", FILL, **deployment).returncode == 0
    return deployment


def archive(environment: dict[str, str], path: Path, domain: str = "shop.example.com") -> dict:
    """The digests of a shop's tables, as exportshop writes them."""
    made = storefront("exportshop", "--shop", domain, "--output", str(path), **environment)
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(path) as opened:
        return json.loads(opened.read("manifest.json"))["tables"]


def test_a_copy_of_everything_goes_on_where_the_source_ended(source, target, tmp_path):
    done = storefront("copydatabase", "--to", target, **source)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["shops"] == 2
    assert "storefront verify: Everything agrees." in done.stderr
    there = source | {"DATABASE_URL": target}
    for domain in ("shop.example.com", "other.example.com"):
        assert archive(there, tmp_path / "1.zip", domain) == archive(source, tmp_path / "2.zip", domain)
    with psycopg.connect(target) as copy:
        # Positions of another PostgreSQL server mean nothing; those of SQLite come before all new ones.
        counts = "SELECT (SELECT count(*) FROM sync_change), (SELECT count(*) FROM sync_log)"
        changes, generations = copy.execute(counts).fetchone()
        assert (changes == 0, generations) == (IS_POSTGRESQL, 2 * IS_POSTGRESQL)
    # Its triggers run, and its ids are new.
    made = storefront("shell", "--no-imports", "-c", FILL.replace("example.com", "example.org"), **there)
    assert made.returncode == 0, made.stderr
    assert storefront("verify", **there).returncode == 0
    again = storefront("copydatabase", "--to", target, **source)
    assert again.returncode == 1
    assert "The target is not empty" in again.stderr


def test_a_copy_of_one_shop_has_nothing_of_another(source, target, tmp_path):
    done = storefront("copydatabase", "--to", target, "--shop", "shop.example.com", **source)
    assert done.returncode == 0, done.stderr
    there = source | {"DATABASE_URL": target}
    assert archive(there, tmp_path / "1.zip") == archive(source, tmp_path / "2.zip")
    with psycopg.connect(target) as copy:
        assert copy.execute("SELECT domain FROM shops_shop").fetchall() == [("shop.example.com",)]
        ((user,),) = copy.execute("SELECT username FROM shops_user").fetchall()
        assert user.startswith("owner-")
        assert copy.execute("SELECT count(*) FROM apps_app").fetchone() == (1,)
        assert copy.execute(
            "SELECT count(*) FROM orders_order WHERE shop_id NOT IN (SELECT id FROM shops_shop)"
        ).fetchone() == (0,)


def test_refuses_a_database_of_another_program(source, target):
    with psycopg.connect(target) as other:
        other.execute("CREATE TABLE guests (name text)")
    done = storefront("copydatabase", "--to", target, **source)
    assert (done.returncode, "tables of another program" in done.stderr) == (1, True), done.stderr
    with psycopg.connect(target) as other:
        assert other.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (1,)


@pytest.mark.skipif(IS_POSTGRESQL, reason="PostgreSQL has no such rows")
def test_a_row_that_postgresql_refuses_leaves_the_target_empty(source, target):
    with closing(sqlite3.connect(Path(source["STOREFRONT_DATA_DIR"]) / "storefront.sqlite3")) as file:
        file.execute("UPDATE webhooks_registration SET topic = ? WHERE true", ["x" * 500])
        file.execute("UPDATE customers_customer SET name = ?", ["x" * 5000])
        file.commit()
    done = storefront("copydatabase", "--to", target, **source)
    assert done.returncode == 1
    assert "PostgreSQL refuses a row, nothing was copied" in done.stderr
    assert "customers_customer" in done.stderr
    assert "xxx" not in done.stderr
    with psycopg.connect(target) as copy:
        assert copy.execute("SELECT count(*) FROM shops_shop").fetchone() == (0,)
        assert copy.execute("SELECT count(*) FROM catalogue_product").fetchone() == (0,)
        assert copy.execute("SELECT count(*) FROM pg_constraint WHERE contype = 'f'").fetchone()[0] > 100
        assert copy.execute("SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'").fetchone() == (0,)


@pytest.mark.parametrize("url", ["mysql://root@localhost/shop", "postgres://nobody@127.0.0.1:1/none"])
def test_refuses_a_target_that_it_cannot_use(source, url):
    done = storefront("copydatabase", "--to", url, **source)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "expected a URL" in done.stderr or "cannot be used" in done.stderr


@pytest.mark.django_db(transaction=True)
def test_nothing_can_be_written_to_the_source_meanwhile(shop):
    with dialect.without_writers():
        if IS_POSTGRESQL:
            with closing(connection.copy()) as other, other.cursor() as cursor:
                cursor.execute("SET lock_timeout = '10ms'")
                with pytest.raises(OperationalError, match="lock timeout"):
                    cursor.execute("UPDATE shops_shop SET name = 'x'")
        else:
            file = sqlite3.connect(connection.settings_dict["NAME"], timeout=0)
            with closing(file), pytest.raises(sqlite3.OperationalError, match="locked"):
                file.execute("UPDATE shops_shop SET name = 'x'")
    shop.name = "Free again"
    shop.save()


def test_the_commands_of_the_page(source, target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = f"{Path(STOREFRONT).parent}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    assert run_guide("operations.md", source | {"NEW": target}) == 4


@pytest.mark.django_db(transaction=True)
def test_a_difference_is_found_and_nothing_stays(shop, target, monkeypatch):
    # For the commands that are run on the target.
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    add_usual_pages(shop=shop, now=NOW)
    send = dialect.send
    monkeypatch.setattr(dialect, "send", lambda rows, copy: rows.model is not Page and send(rows, copy))
    with pytest.raises(Failed, match="content_page differ"):
        copy_database(target, None, lambda _table: None)
    with psycopg.connect(target) as copy:
        assert copy.execute("SELECT count(*) FROM shops_shop").fetchone() == (0,)


def test_a_killed_copy_leaves_the_target_empty_and_can_be_repeated(source, target, tmp_path):
    with psycopg.connect(target, autocommit=True) as watch:

        def is_copying() -> bool:
            copying = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY%'"
            return watch.execute(copying).fetchone() == (1,)

        with running("copydatabase", "--to", target, log=tmp_path / "log", **source) as process:
            wait_until(is_copying, what="a COPY", process=process)
            process.kill()
            process.wait()
        # Its server process ends once it notices.
        count = "SELECT count(*) FROM shops_shop"
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        wait_until(lambda: watch.execute(others).fetchone() == (0,), what="the end of the connection")
        assert watch.execute(count).fetchone() == (0,)
        done = storefront("copydatabase", "--to", target, **source)
        assert done.returncode == 0, done.stderr
        assert watch.execute(count).fetchone() == (2,)


def test_a_killed_import_leaves_no_row_and_can_be_repeated(source, tmp_path):
    archive(source, tmp_path / "shop.zip")
    data = Path(source["STOREFRONT_DATA_DIR"])
    pictures = len(list(data.rglob("mug*.png")))
    there = ("--domain", "copy.example.com", "--base-url", "https://copy.example.com")
    command = ("importshop", str(tmp_path / "shop.zip"), *there)
    with running(*command, log=tmp_path / "log", **source) as process:
        wait_until(lambda: len(list(data.rglob("mug*.png"))) > pictures, what="a stored file", process=process)
        process.kill()
        process.wait()
    assert "No shop has the domain" in storefront("verify", "--shop", "copy.example.com", **source).stderr
    done = storefront(*command, **source)
    assert done.returncode == 0, done.stderr
    assert storefront("verify", **source).returncode == 0

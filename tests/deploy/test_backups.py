"""storefront-backup makes backups that storefront-restore-check restores, or fails and says why."""

import fcntl
import os
import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from storefront.server.worker.alive import NAME as ALIVE
from tests.server.programs import clean_environment, storefront

BIN = Path(__file__).parents[2] / "deploy" / "bin"
SHOP = ("--domain", "shop.example.com", "--name", "Corner shop", "--base-url", "https://shop.example.com")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("rsync"), reason="rsync is not installed"),
]


class Backups:
    """A deployment's variables, and the folder of its backups."""

    def __init__(self, deployment: dict[str, str], folder: Path) -> None:
        self.folder, self.marker = folder, folder / "backup.done"
        self.environment = deployment | {"STOREFRONT_BACKUP_MARKER": str(self.marker)}
        self.media = Path(deployment["STOREFRONT_DATA_DIR"]) / "media"

    def run(self, program: str, *arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        environment = clean_environment(**(self.environment | changed))
        command = [BIN / program, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)

    def back_up(self, *arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        return self.run("storefront-backup", *arguments, **changed)

    def check(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("storefront-restore-check", *arguments)

    def made(self, ending: str = "*") -> list[Path]:
        return sorted(self.folder.glob(f"storefront-*.{ending}"))

    def database(self) -> Path:
        (found,) = [path for path in self.made() if path.suffix != ".files"]
        return found

    def execute(self, statement: str) -> None:
        if url := self.environment.get("DATABASE_URL"):
            with psycopg.connect(url) as connection:
                connection.execute(statement)
            return
        with closing(sqlite3.connect(Path(self.environment["STOREFRONT_DATA_DIR"]) / "storefront.sqlite3")) as file:
            file.execute(statement)
            file.commit()


@pytest.fixture
def empty(tmp_path) -> Backups:
    """A deployment without a database, for what is refused before one is looked at."""
    (tmp_path / "backups").mkdir()
    return Backups({"STOREFRONT_DATA_DIR": str(tmp_path), "DATABASE_URL": ""}, tmp_path / "backups")


@pytest.fixture
def backups(deployment, tmp_path) -> Backups:
    made = storefront("createshop", *SHOP, **deployment)
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "backups"
    folder.mkdir()
    backups = Backups(deployment, folder)
    backups.media.mkdir(exist_ok=True)
    (backups.media / "mug.webp").write_text("a picture")
    return backups


def test_a_backup_can_be_restored_and_ages_from_its_end(backups):
    done = backups.back_up()
    assert (done.returncode, "bytes" in done.stderr) == (0, True), done.stderr
    assert backups.marker.exists()
    assert backups.database().stat().st_mode & 0o777 == 0o600
    (files,) = backups.made("files")
    assert (files / "media/mug.webp").read_text() == "a picture"
    checked = backups.check()
    assert checked.returncode == 0, checked.stderr
    assert "Everything agrees." in checked.stderr
    assert checked.stderr.endswith("can be restored\n")
    # A second check finds nothing of the first one in its way. Nothing is left of either, nor of a killed one.
    (backups.folder / ".restore-check.Abc123").mkdir()
    (backups.folder / ".restore-check.Abc123/storefront.sqlite3").write_text("a whole database")
    assert backups.check().returncode == 0
    assert not list(backups.folder.glob(".restore-check.*"))


def test_files_that_did_not_change_are_stored_once_and_old_backups_go(backups):
    assert backups.back_up().returncode == 0
    (first,) = backups.made("files")
    old = time.time() - 15 * 86400
    earlier = backups.folder / "storefront-20200101T000000Z.dump"
    earlier.write_text("old")
    os.utime(earlier, (old, old))
    renamed = first.rename(backups.folder / "storefront-20200102T000000Z.files")
    assert backups.back_up("14").returncode == 0
    assert not earlier.exists()
    second = backups.made("files")[-1]
    assert second != renamed
    assert (second / "media/mug.webp").samefile(renamed / "media/mug.webp")


def test_an_empty_url_without_a_database_is_an_error(empty):
    done = empty.back_up()
    assert done.returncode == 1
    assert "DATABASE_URL is empty, and there is no SQLite database" in done.stderr
    assert (empty.made(), empty.marker.exists(), (empty.folder / ".part").exists()) == ([], False, False)


@pytest.mark.parametrize(
    "url",
    ["postgres://nobody@127.0.0.1:9/storefront", "sqlite:////nowhere/storefront.sqlite3", "mysql://localhost/x"],
)
def test_a_backup_that_fails_leaves_no_marker_and_removes_no_old_one(empty, url):
    old = time.time() - 15 * 86400
    earlier = empty.folder / "storefront-20200101T000000Z.dump"
    earlier.write_text("old")
    os.utime(earlier, (old, old))
    done = empty.back_up(DATABASE_URL=url)
    assert done.returncode != 0
    assert done.stderr
    assert (empty.made(), empty.marker.exists(), (empty.folder / ".part").exists()) == ([earlier], False, False)


def test_a_database_of_something_else_is_no_backup(empty, tmp_path):
    other = tmp_path / "other.sqlite3"
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE birds (name)")
    done = empty.back_up(DATABASE_URL=f"sqlite:///{other}")
    assert done.returncode == 1
    assert "is not the database of a shop" in done.stderr
    assert not empty.marker.exists()


def test_two_backups_at_once_are_one(empty):
    with (empty.folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = empty.back_up()
    assert (done.returncode, "another backup is running" in done.stderr) == (1, True)


@pytest.mark.parametrize("changed", [{"STOREFRONT_BACKUP_MARKER": ""}, {"STOREFRONT_BACKUP_MARKER": "backup.done"}])
def test_a_marker_is_needed(empty, changed):
    assert "must be a file's absolute path" in empty.back_up(**changed).stderr


def test_a_number_of_days_is_needed(empty):
    assert empty.back_up("0").returncode == 1


def test_a_check_never_fills_the_live_database(backups):
    if "DATABASE_URL" not in backups.environment:
        pytest.skip("a check on SQLite restores into a folder of its own")
    assert backups.back_up().returncode == 0
    server, _, name = backups.environment["DATABASE_URL"].rpartition("/")
    for url in (f"{server}/?dbname={name}", f"{server}/other?dbname={name}"):
        checked = backups.run("storefront-restore-check", DATABASE_URL=url)
        assert checked.returncode == 1
        assert "must have the database's name at the end of its path" in checked.stderr


def test_a_damaged_backup_is_not_taken_for_a_good_one(backups):
    assert backups.back_up().returncode == 0
    database = backups.database()
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 2])
    assert backups.check().returncode != 0


@pytest.mark.disagrees
def test_values_that_contradict_each_other_fail_the_check(backups):
    mug = backups.folder / "mug.jsonl"
    mug.write_text('{"name": "Mug", "sku": "M1", "price": "9.50", "categories": ["Cups"]}\n')
    done = storefront("importproducts", "--shop", "shop.example.com", str(mug), **backups.environment)
    assert done.returncode == 0, done.stderr
    backups.execute("UPDATE catalogue_category SET _lft = 7")
    assert backups.back_up().returncode == 0
    checked = backups.check()
    assert (checked.returncode, "category bounds" in checked.stdout) == (1, True)


def test_the_password_is_in_no_argument():
    script = f'url=; source "{BIN}/postgres-url"; echo "$url|${{PGPASSWORD:-none}}"'

    def split(**given: str) -> str:
        environment = {"PATH": os.environ["PATH"]} | given
        return subprocess.run(
            ["bash", "-euc", script], env=environment, capture_output=True, text=True, check=True, timeout=20
        ).stdout.strip()

    secret = "postgres://me:p%40ss%2Fw%25rd@h:5432/x?sslmode=require"
    assert split(DATABASE_URL=secret) == "postgres://me@h:5432/x?sslmode=require|p@ss/w%rd"
    assert split(DATABASE_URL="postgres://me@h/x") == "postgres://me@h/x|none"
    assert split(DATABASE_URL="postgresql://a:b@pool/x", DATABASE_DIRECT_URL=secret).startswith("postgres://me@h")
    assert split() == "|none"
    as_parameter = "postgres://me@h/x?password=p%26q&sslmode=require"
    assert split(DATABASE_URL=as_parameter) == "postgres://me@h/x?sslmode=require|p&q"
    assert split(DATABASE_URL="postgresql:///x?host=/run&password=pq") == "postgresql:///x?host=/run|pq"
    backslashes = r"postgres://me:a\nb\c%5Cd@h/x"
    assert split(DATABASE_URL=backslashes) == r"postgres://me@h/x|a\nb\c\d"


def test_the_container_of_a_worker_is_watched_by_the_file_that_it_touches():
    root = BIN.parents[1]
    assert f"/var/lib/storefront/{ALIVE} " in (root / "compose.yaml").read_text()
    assert f"/var/lib/storefront/{ALIVE} " in (root / "deploy/kubernetes/worker.yaml").read_text()

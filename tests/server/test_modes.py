"""Other users of the machine cannot read a deployment's databases, uploads, emails and secret key."""

import json
from pathlib import Path

import pytest

from storefront.server import readiness
from tests.server.programs import storefront
from tests.server.test_serve import serving

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

WRITE = """
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage, storages
default_storage.save("products/a.png", ContentFile(b"a"))
storages["private"].save("imports/a.csv", ContentFile(b"a"))
"""


def open_to_others(directory: Path) -> dict[str, str]:
    found = [directory, *directory.rglob("*")]
    return {str(each): f"{each.stat().st_mode & 0o777:o}" for each in found if each.stat().st_mode & 0o077}


def test_a_new_data_directory_is_only_for_its_owner(tmp_path):
    environment = {"STOREFRONT_DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": ""}
    assert storefront("migrate", "--verbosity=0", **environment).returncode == 0
    assert storefront("shell", "--no-imports", "-c", WRITE, **environment).returncode == 0
    with serving(environment) as served:
        assert served.ask("/static/website/shop.css")[0] == 200
        assert served.ask("/media/products/a.png")[0] == 200
        kept = {path.name for path in (tmp_path / "data").iterdir()}
        assert {"secret-key", "static", "media", "private", "storefront.sqlite3", "storefront.sqlite3-wal"} <= kept
        # The test itself writes the server's log.
        served.log.chmod(0o600)
        assert open_to_others(tmp_path / "data") == {}


def test_a_readable_data_directory_is_closed_at_the_next_start(deployment):
    directory = Path(deployment["STOREFRONT_DATA_DIR"])
    directory.chmod(0o755)
    database = directory / "storefront.sqlite3"
    if database.exists():
        database.chmod(0o644)
    with serving(deployment, "--no-worker") as served:
        assert directory.stat().st_mode & 0o777 == 0o700
        assert not database.exists() or database.stat().st_mode & 0o777 == 0o600
        told = [json.loads(line) for line in served.log.read_text().splitlines() if "closed_to_others" in line]
        assert told[0]["path"] == str(directory)
        assert told[0]["was"] == "755"


def test_a_directory_that_cannot_be_closed_is_logged(settings, tmp_path, monkeypatch, caplog):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", refuse)
    readiness.restrict_data_permissions()
    assert str(tmp_path) in caplog.text
    assert "open_to_others" in caplog.text


@pytest.fixture(autouse=True)
def _database(db) -> None:
    """The settings of the connection are asked for."""

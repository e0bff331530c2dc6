"""What supervisors and load balancers ask, on any host."""

import pytest
from django.db import OperationalError, connection

from storefront.server import disk, health

WELL = {"database": "ok", "migrations": "ok", "storage": "ok", "disk": "ok"}


@pytest.fixture(autouse=True)
def _plenty_of_disk(settings):
    settings.DISK_LOW_BYTES = 0


def events(caplog) -> list[str]:
    return [record.msg["event"] if isinstance(record.msg, dict) else record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("host", ["shop.example.com", "10.0.0.7:8000", "nobody.example.org"])
@pytest.mark.django_db
def test_a_process_that_can_serve_is_alive_and_ready(client, host, caplog):
    live, ready = (client.get(path, headers={"host": host}) for path in ("/livez", "/readyz"))
    assert (live.status_code, live.json()) == (200, {"process": "ok"})
    assert (ready.status_code, ready.json()) == (200, WELL)
    assert ready.headers["Cache-Control"] == "no-store"
    assert events(caplog) == []
    assert client.post("/livez", headers={"host": host}).status_code == 405


def test_a_process_is_alive_without_its_database(client, monkeypatch):
    """No test database: any query fails this test."""
    assert client.get("/livez").status_code == 200

    def fail(*args, **kwargs):
        raise OperationalError("password in here")

    monkeypatch.setattr(health.MigrationRecorder, "applied_migrations", fail)
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (503, WELL | {"database": "away", "migrations": "away"})


@pytest.mark.django_db
def test_what_is_wrong_is_logged_once_and_so_is_its_end(client, monkeypatch, caplog):
    def fail(*args, **kwargs):
        raise OperationalError("password in here")

    client.get("/readyz")
    with monkeypatch.context() as broken:
        broken.setattr(health.MigrationRecorder, "applied_migrations", fail)
        for _ in range(3):
            client.get("/readyz")
            client.get("/livez")
    for _ in range(2):
        client.get("/readyz")
    assert events(caplog) == ["not_ready", "ready_again"]
    assert caplog.records[0].levelname == "WARNING"
    assert caplog.records[0].msg["database"] == "away"
    assert "password" not in caplog.text


@pytest.mark.django_db
def test_a_process_that_is_newer_than_its_database_is_not_ready(client):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sync'")
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["migrations"]) == (503, "pending")
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('x', '0001_new', '2026-01-01')")
    assert client.get("/readyz").json()["migrations"] == "pending"


@pytest.mark.django_db
def test_a_process_that_cannot_store_files_is_not_ready(client, tmp_path, settings):
    (tmp_path / "media").touch(mode=0o600)
    # No folder: root may write into all of those.
    settings.MEDIA_ROOT = tmp_path / "media"
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()["storage"]) == (503, "read-only")


@pytest.mark.django_db
def test_a_process_whose_disk_is_nearly_full_serves_and_warns(client, settings, caplog):
    settings.DISK_LOW_BYTES = 10**18
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, WELL | {"disk": "low"})
    assert events(caplog) == ["degraded"]


@pytest.mark.django_db
def test_a_process_whose_disk_is_full_is_not_ready(client, monkeypatch):
    monkeypatch.setattr(disk, "FULL_BYTES", 10**18)
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (503, WELL | {"disk": "full"})


@pytest.mark.django_db
def test_a_disk_that_cannot_be_asked_is_unknown(client, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "gone"
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, WELL | {"disk": "unknown"})

"""What supervisors and load balancers ask, on any host."""

import pytest
from django.db import OperationalError, connection

from storefront.server import health


@pytest.mark.parametrize("host", ["shop.example.com", "10.0.0.7:8000", "nobody.example.org"])
@pytest.mark.django_db
def test_a_process_that_can_serve_is_alive_and_ready(client, host, caplog):
    live, ready = (client.get(path, headers={"host": host}) for path in ("/livez", "/readyz"))
    assert (live.status_code, live.json()) == (200, {"process": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"database": "ok", "migrations": "ok", "storage": "ok"})
    assert ready.headers["Cache-Control"] == "no-store"
    assert [record for record in caplog.records if "livez" in record.getMessage()] == []
    assert client.post("/livez", headers={"host": host}).status_code == 405


def test_a_process_is_alive_without_its_database(client, monkeypatch):
    """No test database: any query fails this test."""
    assert client.get("/livez").status_code == 200

    def fail(*args, **kwargs):
        raise OperationalError("password in here")

    monkeypatch.setattr(health.MigrationRecorder, "applied_migrations", fail)
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (503, {"database": "away", "migrations": "away", "storage": "ok"})


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

"""Two machines that migrate one database at once: one does, the other waits."""

import threading

import pytest
from django.core.management import CommandError
from django.db import connection

from storefront.server.migrating import only_migration
from tests.databases import database
from tests.server.programs import storefront


@pytest.mark.uses_database
@pytest.mark.proof
def test_an_empty_database_is_migrated_by_two_at_once(tmp_path):
    with database(tmp_path) as environment:
        done = []
        threads = [threading.Thread(target=lambda: done.append(storefront("migrate", **environment))) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(250)
        assert [(each.returncode, each.stdout) for each in done] == [(0, "")] * 2
        applied = [each.stderr.count("Applying catalogue.0001_baseline... OK") for each in done]
        assert sorted(applied) == [0, 1]
        assert sum("Waiting for another process" in each.stderr for each in done) == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_migration_waits_no_longer_than_its_deadline(tmp_path, monkeypatch):
    if connection.vendor == "sqlite":
        monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "shop.sqlite3"))
    waited = []
    with (
        only_migration(connection, pytest.fail),
        pytest.raises(CommandError, match="Another process has been migrating"),
        only_migration(connection, lambda: waited.append(1), max_wait_seconds=0.3),
    ):
        pytest.fail("two migrations at once")
    assert waited == [1]
    with only_migration(connection, pytest.fail):
        pass

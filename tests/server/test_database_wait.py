"""Programs that a service manager starts wait for a database that is away, and not for one that refuses them."""

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from django.db import connection, connections

from storefront.server.command import Failed
from storefront.server.database_wait import wait_for_database
from tests.databases import database
from tests.server.programs import free_port, running, storefront, wait_until
from tests.server.relays import relay

on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="a SQLite file is never away")
pytestmark = [pytest.mark.slow, pytest.mark.uses_database]


@pytest.fixture
def away(migrated, tmp_path):
    """The variables of a migrated database that is to be found at a port where nothing listens yet, and how to open
    it."""
    port = free_port()
    with database(tmp_path, copied_from=migrated) as environment:
        url = urlsplit(environment["DATABASE_URL"])
        at = url.netloc.rpartition("@")[0]
        given = {"DATABASE_URL": url._replace(netloc=f"{at}@127.0.0.1:{port}").geturl()}
        yield environment | given, lambda: relay(url.hostname, url.port or 5432, at=port)


def lines(log: Path, event: str) -> list[dict]:
    found = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in found if line["event"] == event]


@on_postgresql
@pytest.mark.parametrize("program", ["serve", "worker", "migrate"])
def test_a_program_starts_when_its_database_comes(away, tmp_path, program):
    environment, come = away
    log, port = tmp_path / "log", free_port()
    arguments = ["--port", str(port), "--no-worker"] if program == "serve" else []
    with running(program, *arguments, log=log, **environment) as process:
        wait_until(lambda: lines(log, "waiting_for_database"), what="the wait", process=process)
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
        with come():
            if program == "migrate":
                assert process.wait(90) == 0
            elif program == "worker":
                wait_until(lambda: lines(log, "worker_started"), what="the worker", process=process)
            else:
                wait_until(lambda: answers(port), what="the server", process=process)
    (waited,) = lines(log, "waiting_for_database")
    assert (waited["level"], waited["seconds"]) == ("warning", 60)
    assert "refused" in waited["reason"]
    assert "Traceback" not in log.read_text()


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/readyz", timeout=15).status_code == 200
    except requests.ConnectionError:
        return False


@on_postgresql
@pytest.mark.parametrize("program", ["serve", "worker", "migrate"])
def test_a_program_gives_up_with_a_sentence(away, program):
    environment, _ = away
    done = storefront(program, **environment, STOREFRONT_DATABASE_WAIT_SECONDS="1")
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.startswith("storefront: The database has not answered for 1 s: connection failed")
    assert last.endswith("STOREFRONT_DATABASE_WAIT_SECONDS is how long to wait for it.")
    assert "Traceback" not in done.stderr


@on_postgresql
def test_a_reload_does_not_wait(away):
    environment, _ = away
    done = storefront("migrate", "--check", **environment)
    assert (done.returncode, "waiting_for_database" in done.stderr) == (1, False)


@on_postgresql
def test_a_database_that_refuses_is_not_waited_for(away):
    environment, come = away
    url = environment["DATABASE_URL"].rpartition("/")[0] + "/no_such_database"
    with come():
        done = storefront("serve", **environment | {"DATABASE_URL": url})
    assert done.returncode == 1
    assert "The database refuses the connection" in done.stderr
    assert 'database "no_such_database" does not exist' in done.stderr
    assert "waiting_for_database" not in done.stderr


@on_postgresql
def test_a_server_that_accepts_and_does_not_answer_is_given_up(settings, monkeypatch):
    """As a PgBouncer does whose server is away."""
    settings.DATABASE_WAIT_SECONDS = 0
    monkeypatch.setattr("storefront.server.database_wait.ANSWER_SECONDS", 0.2)
    server = connections["default"].settings_dict
    silent = []

    def answer(chunk: bytes) -> bytes:
        if b"SELECT 1" in chunk:
            silent.append(chunk)
            between.stall()
        return b""

    with relay(server["HOST"], int(server["PORT"] or 5432), answer=answer) as between:
        own = connections["default"].copy()
        own.settings_dict = {**own.settings_dict, "HOST": "127.0.0.1", "PORT": between.port, "NAME": "postgres"}
        with pytest.raises(Failed, match="connected, but no answer to a query"):
            wait_for_database(own)
        assert silent


def test_a_sqlite_database_is_never_away(settings):
    settings.DATABASE_WAIT_SECONDS = 0

    class Lite:
        vendor = "sqlite"

    wait_for_database(Lite())


def test_an_invalid_wait_is_refused(tmp_path):
    done = storefront("worker", STOREFRONT_DATABASE_WAIT_SECONDS="soon", STOREFRONT_DATA_DIR=str(tmp_path))
    assert done.returncode == 2
    assert "STOREFRONT_DATABASE_WAIT_SECONDS is 'soon'" in done.stderr

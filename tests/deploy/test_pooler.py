"""The PgBouncer and the roles of compose.yaml, run here without containers: logins, pooling, time-outs."""

import os
import shutil
import subprocess
import tempfile
from configparser import ConfigParser
from pathlib import Path

import psycopg
import pytest

from tests.server.clusters import Cluster, programs
from tests.server.programs import free_port, is_listening, wait_until

DEPLOY = Path(__file__).parents[2] / "deploy"
PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
PASSWORD = 'it\'s "odd" $HOME'

pytestmark = [
    pytest.mark.any_database,
    pytest.mark.slow,
    pytest.mark.skipif(not PGBOUNCER, reason="PgBouncer is not installed (on Debian: apt-get install pgbouncer)"),
    pytest.mark.skipif(programs() is None, reason="the programs of PostgreSQL are not installed"),
]


@pytest.fixture
def cluster():
    found = programs()
    assert found is not None
    with tempfile.TemporaryDirectory(prefix="storefront-pooler-") as folder:
        Path(folder).chmod(0o777)
        cluster = Cluster(Path(folder), found)
        cluster.make_empty()
        try:
            yield cluster
        finally:
            cluster.kill()


def ask(console: psycopg.Connection, command: str) -> psycopg.Cursor:
    """Ask PgBouncer's console, which knows the simple protocol only."""
    return psycopg.ClientCursor(console).execute(command)


def check_console(console: psycopg.Connection, port: int) -> None:
    """The settings of the example are used, but for the port and the passwords; and there is what operators watch."""
    console.autocommit = True
    used = {row[0]: row[1] for row in ask(console, "SHOW CONFIG")}
    names = [column.name for column in ask(console, "SHOW POOLS").description or ()]
    assert {"cl_waiting", "maxwait"} <= set(names)
    stated = ConfigParser(interpolation=None)
    stated.read(DEPLOY / "pgbouncer/pgbouncer.ini")
    assert used["auth_file"] != stated["pgbouncer"]["auth_file"]
    expected = dict(stated["pgbouncer"]) | {"listen_port": str(port), "auth_file": used["auth_file"]}
    assert {name: used[name] for name in expected} == expected


def test_web_processes_and_workers_log_in_and_only_web_has_time_outs(cluster):
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        # As the image of PostgreSQL makes them.
        quoted = PASSWORD.replace("'", "''")
        connection.execute(f"CREATE ROLE storefront SUPERUSER LOGIN PASSWORD '{quoted}'")
        connection.execute("CREATE DATABASE storefront OWNER storefront")
    server = {"PGHOST": "127.0.0.1", "PGPORT": str(cluster.port), "PATH": f"{cluster.programs}:{os.environ['PATH']}"}
    given = {"POSTGRES_USER": "storefront", "POSTGRES_DB": "storefront", "POSTGRES_PASSWORD": PASSWORD, **server}
    for _ in range(2):
        # A second time changes nothing, as where the database existed before the role.
        subprocess.run(["bash", DEPLOY / "postgres/roles.sh"], env=given, check=True, timeout=60)
    port = free_port()
    here = {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": str(cluster.port), "LISTEN_ADDRESS": "127.0.0.1"}
    start = [DEPLOY / "pgbouncer/start"]
    if os.geteuid() == 0:
        start = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *start]
    process = subprocess.Popen(
        start,
        env={"POSTGRES_PASSWORD": PASSWORD, "LISTEN_PORT": str(port), "PGBOUNCER": str(PGBOUNCER), **here, **server},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: is_listening(port), what="PgBouncer", process=process)
        pooled = {"host": "127.0.0.1", "port": port, "dbname": "storefront", "prepare_threshold": None}
        shown = {}
        for role in ("storefront", "storefront_web"):
            with psycopg.connect(user=role, password=PASSWORD, **pooled) as connection:
                names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
                query = ", ".join(f"current_setting('{name}')" for name in names)
                shown[role] = connection.execute(f"SELECT current_user, {query}").fetchone()
        assert shown == {
            "storefront": ("storefront", "0", "0", "1min"),
            "storefront_web": ("storefront_web", "30s", "10s", "1min"),
        }
        with psycopg.connect(user="storefront", password=PASSWORD, **pooled | {"dbname": "pgbouncer"}) as console:
            check_console(console, port)
        with pytest.raises(psycopg.OperationalError, match=r"(?i)password|SASL"):
            psycopg.connect(user="storefront", password="wrong", **pooled)
    finally:
        process.kill()
        process.wait()

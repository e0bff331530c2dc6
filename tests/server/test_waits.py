"""Web processes wait neither for a statement nor for a lock longer than their settings say."""

import os
import subprocess
import sys

import pytest
from django.db import OperationalError, connection, connections

from storefront.kit.database_errors import is_unavailable
from storefront.kit.direct import direct_copy
from storefront.server.waits import bounded
from tests.databases import database
from tests.server.test_api_defects import ROOT

SHOW = """
from storefront.server import wsgi
from django.db import connection
with connection.cursor() as cursor:
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        cursor.execute(f"SHOW {name}")
        print(cursor.fetchone()[0])
parameters = connection.connection.info.get_parameters()
print(parameters["tcp_user_timeout"], parameters["keepalives_idle"])
"""

on_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has a deadline for locks of its own"
)


def test_deadlines_are_added_to_what_the_options_set():
    assert bounded({"options": "-c jit=off"}, statement_timeout=30, lock_timeout=0) == {
        "options": "-c jit=off -c statement_timeout=30s -c lock_timeout=0s"
    }
    own = {"options": "-c statement_timeout=5s"}
    assert bounded(own, statement_timeout=30, lock_timeout=10) == {
        "options": "-c statement_timeout=5s -c lock_timeout=10s"
    }


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_statement_that_takes_too_long_is_a_database_that_is_away():
    # Not from the pool, and without the deadlines of these tests' own web process.
    own = direct_copy(connections["default"])
    options = bounded(own.settings_dict["OPTIONS"] | {"options": ""}, statement_timeout=1, lock_timeout=1)
    own.settings_dict = {**own.settings_dict, "OPTIONS": options}
    try:
        with own.cursor() as cursor, pytest.raises(OperationalError, match="statement timeout") as raised:
            cursor.execute("SELECT pg_sleep(30)")
        assert is_unavailable(raised.value)
    finally:
        own.close()


@on_postgresql
@pytest.mark.uses_database
@pytest.mark.proof
def test_a_web_process_has_the_deadlines_of_its_settings(tmp_path):
    with database(tmp_path) as variables:
        environment = os.environ | variables | {"STOREFRONT_LOCK_SECONDS": "7"}
        environment["DJANGO_SETTINGS_MODULE"] = "storefront.server.settings"
        done = subprocess.run(
            [sys.executable, "-c", SHOW],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["30s", "7s", "1min", "20000", "10"]

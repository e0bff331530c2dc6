"""Exceptions and an unreachable database: callers see no traceback, the log has all of it."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from storefront.kit import tokens
from tests.answers import error_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def broken(settings):
    settings.ROOT_URLCONF = "tests.server.broken_urls"


@pytest.mark.rule("R-ERR-11")
def test_an_exception_is_a_json_500_with_the_request_id(stranger, broken):
    answer = stranger.get("/broken")
    assert answer.status_code == 500
    message = f"Internal error. Request id: {answer['X-Request-Id']}."
    assert error_of(answer) == {"message": message, "code": "internal_error"}
    assert b"secret" not in answer.content


def test_an_exception_is_logged_with_its_traceback_and_the_request_id(stranger, broken, caplog, capfd):
    with caplog.at_level(logging.ERROR):
        answer = stranger.get("/broken")
    captured = capfd.readouterr()
    logged = caplog.text + captured.err + captured.out
    assert answer.json()["request_id"] in logged
    assert "ZeroDivisionError" in logged


def test_debugging_shows_no_traceback_either(stranger, broken, settings):
    settings.DEBUG = True
    assert stranger.get("/broken").json()["code"] == "internal_error"


# A separate process, whose settings name a database that cannot be opened.
CALL = """
import json, django
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
from django.test import Client
answers = [
    Client().get("/api/v1/products", headers={"Authorization": "Bearer TOKEN"}),
    Client().get("/api/v1/nothing", headers={"Origin": "https://example.com"}),
]
print(json.dumps([[a.status_code, a.headers.get("Retry-After"), a.json()] for a in answers]))
"""


@pytest.mark.rule("R-ERR-12")
@pytest.mark.parametrize(
    "url", ["sqlite:////proc/no-such-directory/shop.sqlite3", "postgres://nobody@127.0.0.1:1/nothing"]
)
def test_a_database_that_cannot_be_reached_is_a_503(tmp_path, url):
    environ = os.environ | {
        "DATABASE_URL": url,
        "STOREFRONT_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "storefront.server.settings",
    }
    run = subprocess.run(
        [sys.executable, "-c", CALL.replace("TOKEN", tokens.new_token("api"))],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for status, retry_after, body in json.loads(run.stdout.splitlines()[-1]):
        assert (status, retry_after, body["code"]) == (503, "2", "unavailable")
        assert body["message"] == "The shop is temporarily unavailable. Please try again."

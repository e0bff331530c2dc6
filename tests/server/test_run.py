"""`make run` as a stranger types it, in an empty folder and again in the same one; and the calls that it prints."""

import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.databases import database
from tests.server.programs import clean_environment, free_port, is_listening, wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

ROOT = Path(__file__).parents[2]


@contextmanager
def demo(environment: dict[str, str], port: int, log: Path) -> Iterator[str]:
    """What it has printed once it serves; stopped as by Ctrl-C."""
    command = [sys.executable, ROOT / "bin" / "run.py", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=clean_environment(**environment), stdout=output, stderr=output
        )
    try:
        wait_until(lambda: is_listening(port), process=process, what=f"the demo shop: {log}", seconds=170)
        yield log.read_text()
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()


def pasted(line: str) -> requests.Response:
    """The answer to a call of curl's."""
    _, *words = shlex.split(line)
    given = {"-X": "", "-d": None, "-H": []}
    url, options = "", iter(words)
    for word in options:
        if word == "-H":
            given["-H"].append(next(options).split(": ", 1))
        elif word in given:
            given[word] = next(options)
        elif word != "-s":
            url = word
    method = given["-X"] or ("POST" if given["-d"] else "GET")
    return requests.request(method, url, data=given["-d"], headers=dict(given["-H"]), timeout=60)


def signed_in(admin: str, said: str) -> requests.Response:
    """The page that the printed name and password lead to, without anything else to set up."""
    name, password = re.search(r"The admin .* as (\S+), password (\S+)", said).groups()
    with requests.Session() as browser:
        page = browser.get(admin, timeout=60)
        csrf = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        given = {"username": name, "password": password, "csrfmiddlewaretoken": csrf}
        return browser.post(page.url, given, timeout=60)


@pytest.fixture
def names_under_localhost(monkeypatch):
    """Known here as browsers and curl know them; not every system's resolver does."""
    resolve = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *given, **named: resolve(
            "127.0.0.1" if str(host).endswith(".localhost") else host, *given, **named
        ),
    )


@pytest.mark.timeout(800)
@pytest.mark.usefixtures("names_under_localhost")
def test_the_first_start_creates_a_shop_and_the_next_uses_it(tmp_path):
    with database(tmp_path) as environment:
        port = free_port()
        with demo(environment, port, tmp_path / "first.log") as said:
            calls = [line for line in said.splitlines() if line.startswith("curl ")]
            products, added, link = [pasted(call).json() for call in calls]
            assert len(products["data"]) == 2
            assert added["message"] == "Item added to cart."
            page = requests.Session().get(link["checkout_url"], timeout=60)
            assert (page.status_code, page.url) == (200, f"http://secure.localhost:{port}/localhost/checkout")
            assert "Harbour Lane" in requests.get(f"http://localhost:{port}/", timeout=60).text
            assert f"http://admin.localhost:{port}/admin/ " in said
            admin = f"http://admin.localhost:{port}/admin/"
            assert signed_in(admin, said).url == admin
            assert requests.get(f"http://localhost:{port}/admin/", timeout=60).status_code == 404
            assert f"STOREFRONT_ADMIN_HOST= STOREFRONT_SECURE_HOST= PORT={port} make run" in said
        one_host = {"STOREFRONT_ADMIN_HOST": "", "STOREFRONT_SECURE_HOST": ""}
        with demo(environment | one_host, port, tmp_path / "second.log") as said:
            assert f"http://localhost:{port}/admin/ " in said
            assert "STOREFRONT_ADMIN_HOST=" not in said
            assert requests.get(f"http://localhost:{port}/admin/", timeout=60).status_code == 200
            token = calls[0].partition("Bearer ")[2].strip("'")
            assert token in said
            assert pasted(calls[0]).json() == products

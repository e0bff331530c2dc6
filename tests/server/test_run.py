"""`make run` as a stranger types it, in an empty folder and again in the same one; and the calls that it prints."""

import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.databases import database
from tests.server.programs import clean_environment, free_port, is_listening, wait_until

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
        wait_until(lambda: is_listening(port), process=process, what=f"the demo shop: {log}", seconds=100)
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
    return requests.request(method, url, data=given["-d"], headers=dict(given["-H"]), timeout=10)


@pytest.mark.timeout(200)
def test_a_first_start_opens_a_shop_and_the_next_goes_on_with_it(tmp_path):
    with database(tmp_path) as environment:
        port = free_port()
        with demo(environment, port, tmp_path / "first.log") as said:
            calls = [line for line in said.splitlines() if line.startswith("curl ")]
            products, added, link = [pasted(call).json() for call in calls]
            assert len(products["data"]) == 2
            assert added["message"] == "Item added to cart."
            page = requests.get(link["checkout_url"], timeout=10)
            assert (page.status_code, page.url) == (200, f"http://localhost:{port}/checkout")
            assert "Harbour Lane" in requests.get(f"http://localhost:{port}/", timeout=10).text
        with demo(environment, port, tmp_path / "second.log") as said:
            token = calls[0].partition("Bearer ")[2].strip("'")
            assert token in said
            assert pasted(calls[0]).json() == products

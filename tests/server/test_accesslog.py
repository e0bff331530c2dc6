"""Lines about answers from memory: as RequestLog's are, all of them, whatever happens to the log meanwhile."""

import io
import json
import logging
from threading import Thread

import pytest

from storefront.server.accesslog import MOST, Lines, lines, write
from tests.server.programs import wait_until

NOW = 1795246200.25


@pytest.fixture
def log(monkeypatch) -> io.StringIO:
    stream = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(stream)])
    return stream


def logged(log: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_line_says_what_was_asked_and_answered(log):
    gathered = Lines()
    gathered.add(NOW, "abc", "GET", '/api/v1/products/a"b', 200, 0.04)
    wait_until(lambda: logged(log), what="the line")
    assert logged(log) == [
        {
            "method": "GET",
            "path": '/api/v1/products/a"b',
            "status": 200,
            "milliseconds": 0.0,
            "event": "request",
            "request_id": "abc",
            "logger": "storefront.requests",
            "level": "info",
            "timestamp": "2026-11-21T07:30:00.250000Z",
        }
    ]


def test_a_path_that_holds_a_secret_is_blotted(log):
    gathered = Lines()
    gathered.add(NOW, "abc", "GET", "/api/v1/products/api_" + "x" * 43, 200, 0.04)
    gathered.flush()
    assert logged(log)[0]["path"] == "/api/v1/products/api_…"


def test_nothing_is_gathered_below_the_level(log, monkeypatch):
    monkeypatch.setattr(logging.getLogger("storefront.requests"), "level", logging.WARNING)
    logging.getLogger("storefront.requests")._cache.clear()
    gathered = Lines()
    gathered.add(NOW, "abc", "GET", "/api/v1/products", 200, 0.04)
    logging.getLogger("storefront.requests")._cache.clear()
    assert not gathered.gathered
    assert gathered.thread is None


def test_none_is_lost_between_threads(log):
    gathered = Lines()

    def add() -> None:
        for number in range(2000):
            gathered.add(NOW, f"{number}", "GET", "/api/v1/products", 200, 0.04)

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: len(logged(log)) == 8000, what="all lines")


def test_a_log_that_cannot_be_written_is_tried_again(log, monkeypatch):
    gathered = Lines()
    broken = logging.StreamHandler(log)
    monkeypatch.setattr(broken, "stream", None)
    monkeypatch.setattr(logging.getLogger(), "handlers", [broken])
    gathered.add(NOW, "lost", "GET", "/api/v1/products", 200, 0.04)
    wait_until(lambda: not gathered.gathered, what="the try")
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(log)])
    gathered.add(NOW, "kept", "GET", "/api/v1/products", 200, 0.04)
    wait_until(lambda: logged(log), what="the next line")
    assert [line["request_id"] for line in logged(log)] == ["kept"]


def test_what_nobody_takes_is_bounded():
    assert lines.gathered.maxlen == MOST


def test_a_request_is_answered_though_its_line_cannot_be_written(log, monkeypatch):
    broken = logging.StreamHandler(log)
    monkeypatch.setattr(broken, "stream", None)
    monkeypatch.setattr(logging.getLogger(), "handlers", [broken, logging.FileHandler("/dev/null", delay=True)])
    write(NOW, "lost", "GET", "/api/v1/products", 200, 0.04)
    assert not logged(log)

"""Log lines of cached responses: formatted like those of RequestLog, and none is lost."""

import io
import json
import logging
from threading import Event, Thread

import pytest

from storefront.server.edge.access_log import MAX_WAITING_LINES, LineBuffer, buffer, write
from tests.server.programs import wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

NOW = 1795246200.25


@pytest.fixture
def log(monkeypatch) -> io.StringIO:
    stream = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(stream)])
    return stream


def logged(log: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_line_describes_the_request_and_response(log):
    lines = LineBuffer()
    lines.add(NOW, "abc", "GET", '/api/v1/products/a"b', 200, 0.04)
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


def test_a_secret_in_a_path_is_redacted(log):
    lines = LineBuffer()
    lines.add(NOW, "abc", "GET", "/api/v1/products/api_" + "x" * 43, 200, 0.04)
    lines.flush()
    assert logged(log)[0]["path"] == "/api/v1/products/api_…"


def test_nothing_is_buffered_below_the_level(log, monkeypatch):
    monkeypatch.setattr(logging.getLogger("storefront.requests"), "level", logging.WARNING)
    logging.getLogger("storefront.requests")._cache.clear()
    lines = LineBuffer()
    lines.add(NOW, "abc", "GET", "/api/v1/products", 200, 0.04)
    logging.getLogger("storefront.requests")._cache.clear()
    assert not lines.pending
    assert lines.thread is None


def test_no_line_is_lost_between_threads(log):
    lines = LineBuffer()

    def add() -> None:
        for number in range(2000):
            lines.add(NOW, f"{number}", "GET", "/api/v1/products", 200, 0.04)

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: len(logged(log)) == 8000, what="all lines")


def test_the_thread_continues_after_a_failed_write(log, monkeypatch):
    class Broken(io.StringIO):
        tried = Event()

        def write(self, _text: str) -> int:
            self.tried.set()
            raise OSError("no space left")

    lines = LineBuffer()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(Broken())])
    lines.add(NOW, "lost", "GET", "/api/v1/products", 200, 0.04)
    assert Broken.tried.wait(10)
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(log)])
    lines.add(NOW, "kept", "GET", "/api/v1/products", 200, 0.04)
    wait_until(lambda: logged(log), what="the next line")
    assert [line["request_id"] for line in logged(log)] == ["kept"]


def test_the_buffer_is_bounded():
    assert buffer.pending.maxlen == MAX_WAITING_LINES


def test_a_failed_write_does_not_fail_the_request(log, monkeypatch):
    broken = logging.StreamHandler(log)
    monkeypatch.setattr(broken, "stream", None)
    monkeypatch.setattr(logging.getLogger(), "handlers", [broken, logging.FileHandler("/dev/null", delay=True)])
    write(NOW, "lost", "GET", "/api/v1/products", 200, 0.04)
    assert not logged(log)

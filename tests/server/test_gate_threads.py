"""Which requests get a thread, and what happens if there is none in time."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from storefront.server.edge.edge import NeedsThread
from storefront.server.gate import gate as gates
from storefront.server.gate import threads
from storefront.server.gate.gate import Gate


class Headers(dict):
    def items(self):
        return list(super().items())


class Scope:
    method, query_string, http_version, scheme, authority = "GET", "", "1.1", "http", None
    server, client = "127.0.0.1:8000", "127.0.0.1:5000"

    def __init__(self, path: str) -> None:
        self.path, self.headers = path, Headers(host="s.example")


class Proto:
    """Granian's protocol object. Records the first response."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.status = 0

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        if not self.answered.is_set():
            self.status, self.headers, self.body = status, dict(headers), body
            self.answered.set()

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.response_bytes(status, headers, b"")


class Watcher:
    def __init__(self, path: str) -> None:
        self.scope, self.proto = Scope(path), Proto()


class Door:
    """The application behind the gate: waits at `/busy` until `go_on` is set, and raises an exception at `/broken`."""

    def __init__(self) -> None:
        self.go_on, self.was_asked = threading.Event(), threading.Event()
        self.asked: list[str] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        self.asked.append(environ["PATH_INFO"])
        self.was_asked.set()
        if environ["PATH_INFO"] == "/busy":
            assert self.go_on.wait(10)
        if environ["PATH_INFO"] == "/broken":
            raise ZeroDivisionError
        start_response("200 OK", [])
        return [b"here"]

    def answer_from_memory(
        self, environ: dict[str, Any], start_response: Any, *, may_block: bool = False
    ) -> list[bytes] | None:
        if environ["PATH_INFO"] == "/compressed" and not may_block:
            raise NeedsThread
        if environ["PATH_INFO"] not in ("/remembered", "/compressed"):
            return None
        start_response("200 OK", [])
        return [b"from memory"]


@pytest.fixture
def door() -> Iterator[Door]:
    door = Door()
    yield door
    door.go_on.set()


def ask(gate: Gate, path: str) -> Proto:
    watcher = Watcher(path)
    gate.accept_request(watcher)
    return watcher.proto


def one_thread(door: Door) -> Gate:
    return Gate(door, asyncio.new_event_loop(), threads=1, body_seconds=1)


def test_what_needs_no_database_needs_no_application_thread(door, settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "shop.css").write_text("a")
    gate = one_thread(door)
    waiting = [ask(gate, "/busy") for _ in range(2)]
    for path in ("/remembered", "/compressed", "/static/shop.css", "/livez"):
        answer = ask(gate, path)
        assert answer.answered.wait(5)
        assert answer.status == 200
    assert not any(each.answered.is_set() for each in waiting)
    door.go_on.set()
    assert all(each.answered.wait(5) for each in waiting)


@pytest.mark.parametrize("path", ["/static/none.css", "/static/../secret", "/products", "/media/", "/readyz"])
def test_what_may_need_the_database_waits(door, settings, tmp_path, path):
    settings.STATIC_ROOT = settings.MEDIA_ROOT = tmp_path / "public"
    (tmp_path / "public").mkdir()
    (tmp_path / "secret").write_text("a")
    gate = one_thread(door)
    ask(gate, "/busy")
    assert not ask(gate, path).answered.wait(0.2)


@pytest.mark.parametrize("root", ["/static/", "/media/"])
def test_an_absolute_path_is_not_a_file(settings, tmp_path, root):
    settings.STATIC_ROOT = settings.MEDIA_ROOT = tmp_path / "public"
    (tmp_path / "public").mkdir()
    (tmp_path / "public/shop.css").write_text("a")
    (tmp_path / "secret").write_text("a")
    assert gates.is_file({"PATH_INFO": f"{root}shop.css"})
    assert not gates.is_file({"PATH_INFO": f"{root}{tmp_path}/secret"})
    assert not gates.is_file({"PATH_INFO": f"{root}/{tmp_path}/secret"})


@pytest.mark.parametrize(
    ("path", "content_type"), [("/api/busy", "application/json"), ("/x", "text/html; charset=utf-8")]
)
def test_a_request_is_rejected_immediately_if_the_queue_is_full(door, monkeypatch, path, content_type):
    monkeypatch.setattr(threads, "MAX_WAITING", 2)
    gate = one_thread(door)
    ask(gate, "/busy")
    assert door.was_asked.wait(5)
    # The thread waits in the application now, so these two fill the queue.
    for _ in range(2):
        assert not ask(gate, "/busy").answered.is_set()
    answer = ask(gate, path)
    assert answer.answered.is_set()
    assert (answer.status, answer.headers["Retry-After"], answer.headers["Content-Type"]) == (503, "2", content_type)
    assert "very busy" in (json.loads(answer.body)["message"] if "json" in content_type else answer.body.decode())


def test_a_request_that_waited_too_long_is_rejected(door, monkeypatch):
    monkeypatch.setattr(threads, "MAX_WAIT_SECONDS", -1)
    gate = one_thread(door)
    answer = ask(gate, "/products")
    assert answer.answered.wait(5)
    assert (answer.status, door.asked) == (503, [])


def test_a_request_that_waits_too_long_is_rejected_though_no_thread_gets_free(door, monkeypatch):
    monkeypatch.setattr(gates, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(threads, "MAX_WAIT_SECONDS", 0.2)
    loop = asyncio.new_event_loop()
    gate = Gate(door, loop, threads=1, body_seconds=1)
    turning = threading.Thread(target=loop.run_forever)
    turning.start()
    try:
        running = ask(gate, "/busy")
        assert door.was_asked.wait(5)
        waiting = [ask(gate, "/products") for _ in range(3)]
        assert all(each.answered.wait(5) for each in waiting)
        assert {(each.status, each.headers["Retry-After"]) for each in waiting} == {(503, "2")}
        assert not running.answered.is_set()
        # The thread goes on with what comes after them.
        monkeypatch.setattr(threads, "MAX_WAIT_SECONDS", 10)
        next_one = ask(gate, "/products")
        door.go_on.set()
        assert next_one.answered.wait(5)
        assert (next_one.status, door.asked) == (200, ["/busy", "/products"])
    finally:
        loop.call_soon_threadsafe(loop.stop)
        turning.join()
        loop.close()


def test_an_exception_is_a_500_and_the_thread_continues(door):
    gate = one_thread(door)
    broken, next_one = ask(gate, "/broken"), ask(gate, "/products")
    assert broken.answered.wait(5)
    assert next_one.answered.wait(5)
    assert (broken.status, next_one.status) == (500, 200)

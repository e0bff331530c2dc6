"""Large responses are sent as files, which Granian opens later. They are not deleted too early, and not left."""

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storefront.server.gate.response import KEEP_SECONDS, send_response
from storefront.server.gate.wsgi_environ import FileWrapper
from tests.server.programs import wait_until

pytestmark = pytest.mark.slow

LARGE = bytes(range(256)) * 1024


class Proto:
    """Granian's protocol object. Records the file's path, so that the test can open it later."""

    path = body = None

    def response_bytes(self, _status: int, _headers: Any, body: bytes) -> None:
        self.body = body

    def response_file_range(self, _status: int, _headers: Any, path: str, start: int, end: int) -> None:
        self.path, self.size = path, end - start

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()


class Pieces(list):
    """As Django's streaming answers are."""

    streaming = True


class Broken(Pieces):
    def __iter__(self) -> Iterator[bytes]:
        yield LARGE
        raise ZeroDivisionError


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time the test moves."""

    moved = 0.0

    def time(self) -> float:
        return super().time() + self.moved


@pytest.fixture
def loop() -> Iterator[Clock]:
    loop = Clock()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch) -> Path:
    """Where temporary files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def send(loop: Clock, found: Any) -> Proto:
    def application(_environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [])
        return found

    proto = Proto()
    send_response(application, {}, proto, loop)
    return proto


def pass_time(loop: Clock, seconds: float) -> None:
    loop.moved += seconds
    for _ in range(3):
        # Each time the loop does what is due by now.
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()


def test_a_file_that_is_opened_late_is_the_same(loop):
    proto = send(loop, Pieces([LARGE, LARGE]))
    pass_time(loop, KEEP_SECONDS - 1)
    # What is opened meanwhile gets the lowest numbers that are free.
    others = [tempfile.NamedTemporaryFile() for _ in range(20)]  # noqa: SIM115
    assert (proto.size, proto.read()) == (2 * len(LARGE), LARGE * 2)
    for each in others:
        each.close()


def test_an_opened_file_is_deleted_and_read_to_its_end(loop, directory):
    proto = send(loop, Pieces([LARGE]))
    with open(proto.path, "rb") as opened:
        pass_time(loop, KEEP_SECONDS + 1)
        wait_until(lambda: not list(directory.iterdir()), what="the file's end")
        assert opened.read() == LARGE


def test_nothing_is_kept_of_a_small_response_and_of_one_that_breaks(loop, directory):
    assert send(loop, Pieces([b"a", b"b"])).body == b"ab"
    with pytest.raises(ZeroDivisionError):
        send(loop, Broken())
    wait_until(lambda: not list(directory.iterdir()), what="the files' end")


def test_a_file_with_a_path_is_sent_by_its_path(loop, tmp_path):
    (tmp_path / "large").write_bytes(LARGE)
    proto = send(loop, FileWrapper((tmp_path / "large").open("rb")))
    assert proto.path == str(tmp_path / "large")
    assert (proto.size, proto.read()) == (len(LARGE), LARGE)
    assert [path.name for path in tmp_path.iterdir()] == ["large"]

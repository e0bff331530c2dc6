"""Large responses are sent as files, which Granian opens later. They are not closed too early, and not left open."""

import asyncio
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from storefront.server.gate.open_descriptors import OpenDescriptors
from storefront.server.gate.response import send_response
from storefront.server.gate.wsgi_environ import FileWrapper
from tests.server.programs import wait_until

pytestmark = pytest.mark.slow

LARGE = bytes(range(256)) * 1024
HOUR = 3600


class Proto:
    """Granian's protocol object. Records the file's path, so that the test can open it later."""

    path = ""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    def response_file_range(self, _status: int, _headers: Any, path: str, start: int, end: int) -> None:
        self.path, self.size = path, end - start

    async def client_disconnect(self) -> None:
        await self.gone.wait()

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()


class Pieces(list):
    """As Django's streaming answers are."""

    streaming = True


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


@pytest.fixture
def descriptors(loop) -> OpenDescriptors:
    return OpenDescriptors(loop)


def send(descriptors: OpenDescriptors, found: Any) -> Proto:
    def application(_environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [])
        return found

    proto = Proto()
    send_response(application, {}, proto, descriptors)
    return proto


def inode(proto: Proto) -> tuple[int, int]:
    found = os.stat(proto.path)
    return found.st_dev, found.st_ino


def is_open(path: str, file: tuple[int, int]) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == file


def test_a_file_opened_an_hour_later_is_the_same(descriptors, loop):
    proto = send(descriptors, Pieces([LARGE, LARGE]))
    loop.moved = HOUR
    for _ in range(3):
        # Each time the loop does what is due by now.
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
    # What is opened meanwhile gets the lowest numbers that are free.
    others = [open("/dev/null", "rb") for _ in range(20)]  # noqa: SIM115
    assert (proto.size, proto.read()) == (2 * len(LARGE), LARGE * 2)
    for each in others:
        each.close()


def test_an_opened_file_is_not_kept(descriptors):
    proto = send(descriptors, Pieces([LARGE]))
    file = inode(proto)
    assert proto.read() == LARGE
    wait_until(lambda: not is_open(proto.path, file), what="the file's end")
    wait_until(lambda: not descriptors.waiting, what="the end of waiting")
    # Where Granian's connection ends later, there is nothing left to close.
    descriptors.loop.call_soon_threadsafe(proto.gone.set)


def test_a_file_is_not_kept_after_the_caller_disconnects(descriptors, loop):
    proto = send(descriptors, Pieces([LARGE]))
    file = inode(proto)
    assert is_open(proto.path, file)
    loop.call_soon_threadsafe(proto.gone.set)
    wait_until(lambda: not is_open(proto.path, file), what="the file's end")


def test_without_inotify_a_file_is_kept_until_the_caller_disconnects(descriptors, loop):
    descriptors.inotify = -1
    proto = send(descriptors, Pieces([LARGE]))
    file = inode(proto)
    assert proto.read() == LARGE
    assert is_open(proto.path, file)
    loop.call_soon_threadsafe(proto.gone.set)
    wait_until(lambda: not is_open(proto.path, file), what="the file's end")


def test_a_file_with_a_path_is_sent_by_its_path(descriptors, tmp_path):
    (tmp_path / "large").write_bytes(LARGE)
    proto = send(descriptors, FileWrapper((tmp_path / "large").open("rb")))
    assert proto.path == str(tmp_path / "large")
    assert (proto.size, proto.read()) == (len(LARGE), LARGE)
    assert not descriptors.waiting

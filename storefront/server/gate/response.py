"""Sends a WSGI response through Granian, which takes all of it at once and buffers it while the caller reads, so that
slow readers hold no thread.

Small files are read into memory. Large ones are opened by Granian itself, by their path, and read in chunks. What has
no path is written to a temporary file first.
"""

import os
import tempfile
from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from storefront.kit.api.ranges import FilePart
from storefront.server.gate.wsgi_environ import Environ, FileWrapper

Headers = list[tuple[str, str]]
CLOSE = ("Connection", "close")

# Bytes of a streamed response or a file up to which it is kept in memory while it is sent.
MAX_BYTES_IN_MEMORY = 128 * 1024
# Seconds after which a temporary file is deleted. Granian opens it within milliseconds, without reporting when, and
# sends an open file to its end. If it came too late, it would find nothing: the file's name is random.
KEEP_SECONDS = 10


class StartResponse:
    """WSGI's `start_response`; records the status and headers that the application passes to it."""

    __slots__ = ("headers", "status")

    def __call__(self, status: str, headers: Headers, *_: Any) -> None:
        self.status, self.headers = int(status[:3]), headers


class ClosingProto:
    """Granian's protocol object of a request, which closes the connection after the response."""

    def __init__(self, proto: Any) -> None:
        self.proto = proto

    def response_bytes(self, status: int, headers: Headers, body: bytes) -> None:
        self.proto.response_bytes(status, [*headers, CLOSE], body)

    def response_empty(self, status: int, headers: Headers) -> None:
        self.proto.response_empty(status, [*headers, CLOSE])

    def response_file_range(self, status: int, headers: Headers, path: str, start: int, end: int) -> None:
        self.proto.response_file_range(status, [*headers, CLOSE], path, start, end)

    def __aiter__(self) -> Any:
        return self.proto.__aiter__()


def send_response(application: Callable[..., Any], environ: Environ, proto: Any, loop: AbstractEventLoop) -> None:
    """Call the application with this request and send its response to the caller."""
    start = StartResponse()
    body = application(environ, start)
    try:
        if isinstance(body, FileWrapper):
            _send_file(proto, start, body.file, loop)
        elif getattr(body, "streaming", False):
            _send_stream(proto, start, body, loop)
        else:
            proto.response_bytes(start.status, start.headers, b"".join(body))
    finally:
        closing = body.file if isinstance(body, FileWrapper) else body
        if hasattr(closing, "close"):
            closing.close()


def _send_file(proto: Any, start: StartResponse, file: Any, loop: AbstractEventLoop) -> None:
    if isinstance(file, FilePart) and file.span.length > MAX_BYTES_IN_MEMORY:
        proto.response_file_range(start.status, start.headers, file.path, file.span.start, file.span.stop)
        return
    content = file.read(MAX_BYTES_IN_MEMORY + 1)
    if len(content) <= MAX_BYTES_IN_MEMORY:
        proto.response_bytes(start.status, start.headers, content)
        return
    path = _path_of(file)
    if path is None:
        # Part of a file, as a Range header asks for.
        _send_stream(proto, start, chain([content], iter(lambda: file.read(MAX_BYTES_IN_MEMORY), b"")), loop)
        return
    proto.response_file_range(start.status, start.headers, path, file.tell() - len(content), os.path.getsize(path))


def _path_of(file: Any) -> str | None:
    """The absolute path where Granian finds exactly this file; None for part of a file, or a file without a path."""
    name = getattr(file, "name", None)
    if not isinstance(name, str):
        return None
    try:
        is_same_file = os.path.samestat(os.stat(name), os.fstat(file.fileno()))
    except (AttributeError, OSError):
        return None
    return os.path.abspath(name) if is_same_file else None


def _send_stream(proto: Any, start: StartResponse, chunks: Iterable[bytes], loop: AbstractEventLoop) -> None:
    """Write the chunks to a temporary file and send that, so that a slow reader does not hold this thread."""
    (descriptor, path), delay = tempfile.mkstemp(), 0
    try:
        with open(descriptor, "w+b") as file:
            file.writelines(chunks)
            size = file.tell()
            if size <= MAX_BYTES_IN_MEMORY:
                file.seek(0)
                proto.response_bytes(start.status, start.headers, file.read())
                return
        proto.response_file_range(start.status, start.headers, path, 0, size)
        delay = KEEP_SECONDS
    finally:
        loop.call_soon_threadsafe(lambda: loop.call_later(delay, os.unlink, path))

"""Sends a WSGI response through Granian, which takes all of it at once and buffers it while the caller reads, so that
slow readers hold no thread.

Small files are read into memory. Large ones are opened by Granian itself and read in chunks: by their path or, where
they have none, by a descriptor that `open_descriptors.py` keeps open.
"""

import os
import tempfile
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from storefront.kit.ranges import FilePart
from storefront.server.gate.open_descriptors import OpenDescriptors
from storefront.server.gate.wsgi_environ import Environ, FileWrapper

Headers = list[tuple[str, str]]
CLOSE = ("Connection", "close")

# Bytes of a streamed response or a file up to which it is kept in memory while it is sent.
MAX_BYTES_IN_MEMORY = 128 * 1024


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

    def client_disconnect(self) -> Any:
        return self.proto.client_disconnect()

    def __aiter__(self) -> Any:
        return self.proto.__aiter__()


def send_response(application: Callable[..., Any], environ: Environ, proto: Any, descriptors: OpenDescriptors) -> None:
    """Call the application with this request and send its response to the caller."""
    start = StartResponse()
    body = application(environ, start)
    try:
        if isinstance(body, FileWrapper):
            _send_file(proto, start, body.file, descriptors)
        elif getattr(body, "streaming", False):
            _send_stream(proto, start, body, descriptors)
        else:
            proto.response_bytes(start.status, start.headers, b"".join(body))
    finally:
        closing = body.file if isinstance(body, FileWrapper) else body
        if hasattr(closing, "close"):
            closing.close()


def _send_file(proto: Any, start: StartResponse, file: Any, descriptors: OpenDescriptors) -> None:
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
        _send_stream(proto, start, chain([content], iter(lambda: file.read(MAX_BYTES_IN_MEMORY), b"")), descriptors)
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


def _send_stream(proto: Any, start: StartResponse, chunks: Iterable[bytes], descriptors: OpenDescriptors) -> None:
    """Write the chunks to a temporary file and send that, so that a slow reader does not hold this thread."""
    with tempfile.TemporaryFile() as file:
        file.writelines(chunks)
        size = file.tell()
        if size <= MAX_BYTES_IN_MEMORY:
            file.seek(0)
            proto.response_bytes(start.status, start.headers, file.read())
            return
        file.flush()
        descriptor = os.dup(file.fileno())
    descriptors.keep_open(descriptor, proto)
    proto.response_file_range(start.status, start.headers, f"/dev/fd/{descriptor}", 0, size)

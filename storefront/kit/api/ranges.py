"""Parts of files that a `Range` header asks for, so that a download resumes where it broke off (RFC 9110, section 14).

One range is answered. A header that asks for several, or that is not understood, is ignored, as the RFC allows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII | re.IGNORECASE)


class Unsatisfiable(Exception):
    """The range begins after the file's end, or is empty."""


@dataclass(frozen=True)
class Span:
    """The bytes from `start` up to, but not including, `stop`."""

    start: int
    stop: int

    @property
    def length(self) -> int:
        return self.stop - self.start


def requested_span(headers: Mapping[str, str], *, size: int, etag: str) -> Span | None:
    """The part of a file of `size` bytes that a GET asks for; None: all of it. With `If-Range`, a part is sent only if
    that is the file's `etag`. Raises Unsatisfiable."""
    match = _RANGE.fullmatch(headers.get("Range", ""))
    if match is None or headers.get("If-Range", etag) != etag:
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        span = Span(max(size - int(last), 0), size)
    elif last and int(last) < int(first):
        return None
    else:
        span = Span(int(first), min(int(last) + 1, size) if last else size)
    if span.length <= 0:
        raise Unsatisfiable
    return span


class FilePart:
    """A part of a local file, for Django's FileResponse. The gate sends it by `path` and `span`, and reads nothing."""

    def __init__(self, file: IO[bytes], path: str, span: Span) -> None:
        self.file, self.path, self.span = file, path, span
        file.seek(span.start)

    def read(self, size: int = -1) -> bytes:
        left = self.span.stop - self.file.tell()
        return self.file.read(left if size < 0 else min(size, left))

    def close(self) -> None:
        self.file.close()

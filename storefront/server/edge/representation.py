"""A cached catalogue response in its encodings: plain and gzip, each as a 200 or a 304."""

import gzip
import re
from functools import lru_cache

from storefront.kit.api.conditional import etag_matches, gzip_etag
from storefront.kit.api.http import JSON

Headers = list[tuple[str, str]]

# Bytes from which a body is compressed. Below, gzip saves less than a packet.
MIN_GZIP_BYTES = 1000
# gzip's level: four times as fast as the default level, and only a few percent larger for JSON.
GZIP_LEVEL = 3
_GZIP = re.compile(r"\s*(?:x-)?gzip\s*(?:;\s*q=([0-9.]+)\s*)?", re.IGNORECASE)


class EncodedResponse:
    """The body in one encoding, with the headers of a 200 and of a 304."""

    __slots__ = ("body", "etag", "not_modified_headers", "ok_headers")

    def __init__(self, body: bytes, etag: str, shared: Headers, encoding: Headers) -> None:
        self.body, self.etag = body, etag
        self.not_modified_headers: Headers = [("ETag", etag), *shared]
        length = ("Content-Length", str(len(body)))
        self.ok_headers: Headers = [("Content-Type", JSON), *encoding, *self.not_modified_headers, length]

    def matches(self, if_none_match: str) -> bool:
        return if_none_match == self.etag or etag_matches(self.etag, if_none_match)


class Representation:
    """Django's response without what belongs to a single request. `shared` are the headers that a 304 has too."""

    __slots__ = ("_shared", "gzipped", "plain")

    def __init__(self, content: bytes, etag: str, shared: Headers) -> None:
        self._shared = [_with_vary(name, value) for name, value in shared]
        self.plain = EncodedResponse(content, etag, self._shared, [])
        self.gzipped: EncodedResponse | None = None

    def should_gzip(self, accept_encoding: str | None) -> bool:
        """Returns True if the caller accepts gzip and the body is large enough for it."""
        return accept_encoding is not None and len(self.plain.body) >= MIN_GZIP_BYTES and accepts_gzip(accept_encoding)

    def compress(self) -> EncodedResponse:
        """Set and return `gzipped`. If two threads do this at the same time, their results are equal."""
        body = compress(self.plain.body)
        self.gzipped = EncodedResponse(body, gzip_etag(self.plain.etag), self._shared, [("Content-Encoding", "gzip")])
        return self.gzipped


def compress(body: bytes) -> bytes:
    return gzip.compress(body, GZIP_LEVEL, mtime=0)


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: str) -> bool:
    """Returns True if the header names gzip with a weight above zero."""
    for coding in accept_encoding.split(","):
        if found := _GZIP.fullmatch(coding):
            return (found[1] or "1").strip("0.") != ""
    return False


def _with_vary(name: str, value: str) -> tuple[str, str]:
    """The header; if it is Vary, with Accept-Encoding added."""
    return (name, f"{value}, Accept-Encoding") if name == "Vary" else (name, value)

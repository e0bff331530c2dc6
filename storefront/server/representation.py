"""One catalogue answer in the forms it is sent in: as it is or as gzip, whole or as a 304."""

import gzip
import re
from functools import lru_cache

from storefront.kit.conditional import gzip_etag, is_known
from storefront.kit.http import JSON

Headers = list[tuple[str, str]]

# Bytes below which gzip saves less than a packet.
WORTH_PACKING = 1000
# Four times as fast as the default level, and only a few percent larger for JSON.
LEVEL = 3
_GZIP = re.compile(r"\s*(?:x-)?gzip\s*(?:;\s*q=([0-9.]+)\s*)?", re.IGNORECASE)


class Form:
    """The bytes of one encoding, with the headers of a 200 and of a 304."""

    __slots__ = ("body", "etag", "unmodified", "whole")

    def __init__(self, body: bytes, etag: str, shared: Headers, encoding: Headers) -> None:
        self.body, self.etag = body, etag
        self.unmodified: Headers = [("ETag", etag), *shared]
        length = ("Content-Length", str(len(body)))
        self.whole: Headers = [("Content-Type", JSON), *encoding, *self.unmodified, length]

    def is_known(self, if_none_match: str) -> bool:
        return if_none_match == self.etag or is_known(self.etag, if_none_match)


class Representation:
    """What Django answered, without what belongs to one request alone. `shared` are the headers that a 304 has too."""

    __slots__ = ("_shared", "packed", "plain")

    def __init__(self, content: bytes, etag: str, shared: Headers) -> None:
        self._shared = [_varied(name, value) for name, value in shared]
        self.plain = Form(content, etag, self._shared, [])
        self.packed: Form | None = None

    def wants_packing(self, accept_encoding: str | None) -> bool:
        """Whether gzip is accepted and worth it."""
        return accept_encoding is not None and len(self.plain.body) >= WORTH_PACKING and accepts_gzip(accept_encoding)

    def pack(self) -> Form:
        """As gzip, made once. Two threads may both make it, and make the same."""
        body = gzip.compress(self.plain.body, LEVEL, mtime=0)
        self.packed = Form(body, gzip_etag(self.plain.etag), self._shared, [("Content-Encoding", "gzip")])
        return self.packed


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header names gzip, and not with a weight of zero."""
    for coding in accept_encoding.split(","):
        if found := _GZIP.fullmatch(coding):
            return (found[1] or "1").strip("0.") != ""
    return False


def _varied(name: str, value: str) -> tuple[str, str]:
    return (name, f"{value}, Accept-Encoding") if name == "Vary" else (name, value)

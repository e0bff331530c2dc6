"""Answers the public catalogue from memory, before Django.

A GET or HEAD of products or categories whose token and answer are both remembered is answered here; all else falls
through to Django, and what that answers with 200 is remembered. Only a credential that Django has let through is
remembered, by the digest of its header. An answer is remembered by shop, path and query, and depends on nothing else:
no cart, no customer, no host, no cookie. Errors never are.

Both are trusted while the shop has not changed (`shops.changes`), and for `changes.LONGEST` seconds at most: this also
covers what comes true by the clock, such as `publish_at`.
"""

import math
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256
from random import getrandbits
from threading import Lock
from typing import Any

from django.http import QueryDict

from storefront.catalogue.schemas import ProductQuery
from storefront.server import accesslog, listening
from storefront.server.memory import Memory
from storefront.server.representation import Form, Headers, Representation
from storefront.shops import changes, ratelimit
from storefront.shops.request import Caller, Request

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Place = tuple[str, tuple[tuple[str, str], ...]]

# Under which the application behind leaves its request in the environ.
REQUEST = "storefront.request"
SCOPE = "read_products"
LIST, SINGLES = "/api/v1/products", ("/api/v1/products/", "/api/v1/categories/")
PREFIXES = (LIST, "/api/v1/categories")
PARAMETERS = tuple(ProductQuery.model_fields)
# Characters of path and query together, and of an Authorization header; what is longer goes to Django.
LONGEST_PLACE, LONGEST_CREDENTIAL = 600, 200
# What keeping an entry costs beside its bodies, in bytes: objects, headers and keys.
OVERHEAD = 4096
CALLER_SIZE = 1024
# Headers that belong to one answer or one form of it, in lower case.
OWN = {"content-type", "content-length", "etag", "x-request-id"}
QUOTA = "x-ratelimit-"


class Known:
    """What is remembered of a caller who may read the catalogue: what counts its calls, how many a minute it may make,
    and when its token expires, in Unix seconds."""

    __slots__ = ("counted_as", "ends", "requests_per_minute")

    def __init__(self, caller: Caller) -> None:
        self.counted_as, self.requests_per_minute = caller.counted_as, caller.requests_per_minute
        self.ends = caller.expires_at.timestamp() if caller.expires_at else math.inf


class Remembered:
    """Something read from the database for a shop, and until when it can be trusted."""

    __slots__ = ("dies", "mark", "shop", "size", "what")

    def __init__(self, what: Any, shop: int, mark: int, began: float, size: int) -> None:
        self.what, self.shop, self.mark, self.size = what, shop, mark, size
        self.dies = began + changes.LONGEST

    def is_fresh(self, now: float) -> bool:
        return now < self.dies and changes.version(self.shop) <= self.mark


class Edge:
    """A WSGI layer that remembers at most `capacity` bytes; with 0 it asks the application behind each time."""

    def __init__(self, behind: Callable[..., Any], capacity: int) -> None:
        self.behind = behind
        self.memory: Memory[Remembered] = Memory(capacity)
        self.hits = self.misses = 0
        self._counting = Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        place = _place(environ)
        if place is None:
            return self.behind(environ, start_response)
        began = time.monotonic()
        credential = None if "HTTP_ORIGIN" in environ else _credential(environ)
        if self.memory.capacity and credential:
            listening.start()
            found = self._remembered(credential, place, began)
            if found:
                caller, key, entry = found
                quota = _quota(caller)
                if quota is not None:
                    return self._answer_from_memory(environ, start_response, key, entry, quota, began)
        return self._ask(environ, start_response, place, credential, began)

    def counters(self) -> dict[str, int]:
        """Answers from memory and from Django, entries evicted for want of room, and what is held now, in bytes too."""
        memory = self.memory
        return {
            "hits": self.hits,
            "misses": self.misses,
            "evictions": memory.evictions,
            "entries": len(memory),
            "bytes": memory.size,
        }

    def _remembered(self, credential: bytes, place: Place, now: float) -> tuple[Known, Any, Remembered] | None:
        """Whoever the credential stands for, and the fresh answer to what they ask, where both are known."""
        known = self.memory.get(credential)
        if known is None:
            return None
        caller: Known = known.what
        if not known.is_fresh(now) or caller.ends <= time.time():
            self.memory.drop(credential, known)
            return None
        key = (known.shop, place)
        entry = self.memory.get(key)
        if entry is None:
            return None
        if not entry.is_fresh(now):
            self.memory.drop(key, entry)
            return None
        return caller, key, entry

    def _answer_from_memory(
        self, environ: Environ, start: StartResponse, key: Any, entry: Remembered, quota: Headers, began: float
    ) -> list[bytes]:
        with self._counting:
            self.hits += 1
        # Names a request and guards nothing; the system's random bits would let go of the GIL for each.
        id = f"{getrandbits(128):032x}"
        status, body = self._answer(environ, start, key, entry, [*quota, ("X-Request-Id", id)])
        milliseconds = (time.monotonic() - began) * 1000
        accesslog.lines.add(time.time(), id, environ["REQUEST_METHOD"], environ["PATH_INFO"], status, milliseconds)
        return body

    def _answer(
        self, environ: Environ, start: StartResponse, key: Any, entry: Remembered, own: Headers
    ) -> tuple[int, list[bytes]]:
        form = self._form(environ, key, entry)
        if_none_match = environ.get("HTTP_IF_NONE_MATCH")
        if if_none_match is not None and form.is_known(if_none_match):
            start("304 Not Modified", form.unmodified + own)
            return 304, [b""]
        start("200 OK", form.whole + own)
        return 200, [form.body if environ["REQUEST_METHOD"] == "GET" else b""]

    def _form(self, environ: Environ, key: Any, entry: Remembered) -> Form:
        answer: Representation = entry.what
        if not answer.wants_packing(environ.get("HTTP_ACCEPT_ENCODING")):
            return answer.plain
        if answer.packed is None:
            self.memory.grow(key, entry, len(answer.pack().body))
        return answer.packed  # type: ignore[return-value]

    def _ask(
        self, environ: Environ, start: StartResponse, place: Place, credential: bytes | None, began: float
    ) -> Iterable[bytes]:
        """Django's answer; one of the catalogue is remembered, and sent in the form that the caller takes."""
        mark = changes.mark()
        with self._counting:
            self.misses += 1
        environ[REQUEST] = None
        said: list[tuple[str, Headers]] = []
        response = self.behind(environ, lambda status, headers, *_: said.append((status, headers)))
        request: Request | None = environ.pop(REQUEST, None)
        status, headers = said[0]
        if status[:3] not in ("200", "304") or request is None or not hasattr(request, "representation"):
            start(status, headers)
            return response
        response.close()
        entry, own = _entry(request, headers, mark, began)
        key = (entry.shop, place)
        if credential and SCOPE in request.caller.scopes and entry.is_fresh(began):
            self.memory.put(credential, Remembered(Known(request.caller), entry.shop, mark, began, CALLER_SIZE))
            self.memory.put(key, entry)
        return self._answer(environ, start, key, entry, own)[1]


def _place(environ: Environ) -> Place | None:
    """Which part of the catalogue is asked for; None for all that is no plain read of it."""
    path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
    if (
        not path.startswith(PREFIXES)
        or environ["REQUEST_METHOD"] not in ("GET", "HEAD")
        or len(path) + len(query) > LONGEST_PLACE
        or environ.get("CONTENT_LENGTH", "0") not in ("0", "")
        or "HTTP_TRANSFER_ENCODING" in environ
    ):
        return None
    return canonical(path, query)


@lru_cache(maxsize=2048)
def canonical(path: str, query: str) -> Place | None:
    """Path and query without what makes no difference: other parameters, repeated ones, their order."""
    text = path + query
    if not text.isascii() or not text.isprintable() or "%00" in query:
        return None
    if path not in PREFIXES and not (path.startswith(SINGLES) and path.count("/") == LIST.count("/") + 1):
        return None
    given = QueryDict(query) if path == LIST else {}
    return path, tuple((name, given[name]) for name in PARAMETERS if name in given)


def _credential(environ: Environ) -> bytes | None:
    """The digest under which the request's credential is remembered, as `shops.auth.installation_token` takes it."""
    own = environ.get("HTTP_X_SHOP_ACCESS_TOKEN", "").strip()
    # Marked, so that the one header's text never stands for the other's.
    header = f"\n{own}" if own else environ.get("HTTP_AUTHORIZATION")
    if not header or len(header) > LONGEST_CREDENTIAL or not header.isascii():
        return None
    return sha256(header.encode()).digest()


def _quota(caller: Known) -> Headers | None:
    """The rate limit's headers, the call counted; None where it is one too many, which Django then says."""
    if caller.requests_per_minute is None:
        return []
    allowed, quota = ratelimit.count_call(caller.counted_as, per_minute=caller.requests_per_minute)
    return list(quota.headers.items()) if allowed else None


def _entry(request: Request, headers: Headers, mark: int, began: float) -> tuple[Remembered, Headers]:
    """The answer to remember, and the headers of this one time."""
    shared, own = [], []
    etag = ""
    for name, value in headers:
        lower = name.lower()
        if lower == "etag":
            etag = value
        elif lower == "x-request-id" or lower.startswith(QUOTA):
            own.append((name, value))
        elif lower not in OWN:
            shared.append((name, value))
    answer = Representation(request.representation, etag, shared)
    size = len(request.representation) + OVERHEAD
    return Remembered(answer, request.caller.shop.pk, mark, began, size), own

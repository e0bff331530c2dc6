"""Answers the public catalogue from memory, before Django (R-CAT-39).

A GET or HEAD of products or categories is answered here if both the caller and the response are cached. All other
requests go to Django, and its 200 responses of the catalogue are cached. A caller is cached only after Django has
accepted its token, under the digest of the header. A response is cached by shop, path and query, and in a shop with
further languages by that which `Accept-Language` chooses; it depends on nothing else: no cart, no customer, no host, no
cookie. Errors are never cached.

An entry is valid while its shop has not changed (`shops.changes`), until the next date that changes it, such as a
product's `publish_at`, and for `changes.MAX_STALE_SECONDS` seconds at most.
"""

import math
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import QueryDict

from storefront import audit
from storefront.catalogue.schemas import CategoryQuery, ProductQuery, SingleQuery
from storefront.deployment import load
from storefront.kit import clock
from storefront.kit.api.conditional import Revalidated
from storefront.kit.callers import request_id
from storefront.server.api.ignored import header_value
from storefront.server.edge import access_log, listening
from storefront.server.edge.memory import MemoryCache
from storefront.server.edge.representation import EncodedResponse, Headers, Representation
from storefront.shops import changes, ratelimit, token_use
from storefront.shops.locales import preferred_language
from storefront.shops.request import Caller

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
# A request's path, its query parameters that make a difference, and the `X-Ignored` header for the others.
Target = tuple[str, tuple[tuple[str, str], ...], str]

SCOPE = "read_products"
LIST, SINGLES = "/api/v1/products", ("/api/v1/products/", "/api/v1/categories/")
PREFIXES = (LIST, "/api/v1/categories")
PARAMETERS, SINGLE_PARAMETERS = tuple(ProductQuery.model_fields), tuple(SingleQuery.model_fields)
CATEGORY_PARAMETERS = tuple(CategoryQuery.model_fields)
# Characters of path and query together, and of a credential's header. Longer ones go to Django.
MAX_ADDRESS_LENGTH, MAX_CREDENTIAL_LENGTH = 600, 200
# Bytes an entry costs besides its bodies: objects, headers, keys.
ENTRY_OVERHEAD_BYTES = 4096
CALLER_BYTES = 1024
# Headers that belong to one response or one encoding of it, in lower case.
OWN = {"content-type", "content-length", "etag", "x-request-id"}
QUOTA = "x-ratelimit-"


class NeedsThread(Exception):
    """The response is cached, but giving it may take longer than Granian's thread has."""


class CachedCaller:
    """A caller who may read the catalogue: its token's digest, the key and the limit of its calls per minute, when the
    token expires, in Unix seconds, its shop's and its own name in the log, and the shop's languages if it has further
    ones."""

    __slots__ = ("counted_as", "digest", "expires_at", "languages", "name", "requests_per_minute", "shop")

    def __init__(self, caller: Caller) -> None:
        self.digest = caller.digest
        self.shop, self.name = caller.shop.domain, str(audit.caller(caller))
        self.counted_as, self.requests_per_minute = caller.counted_as, caller.requests_per_minute
        self.expires_at = caller.expires_at.timestamp() if caller.expires_at else math.inf
        self.languages = tuple(caller.shop.languages) if caller.shop.further_languages else ()


class CacheEntry:
    """A caller or a representation that was read from the database for a shop.

    `shop` is the shop's id, `mark` that of `changes.latest_change()` before the read, `size` is in bytes, `until` is
    when a date changes it, and `expires_at` is in seconds of `time.monotonic()`.
    """

    __slots__ = ("expires_at", "mark", "shop", "size", "until", "value")

    def __init__(
        self, value: Any, shop: int, mark: int, started: float, size: int, until: datetime | None = None
    ) -> None:
        self.value, self.shop, self.mark, self.size, self.until = value, shop, mark, size, until
        self.expires_at = started + changes.MAX_STALE_SECONDS

    def is_fresh(self, now: float) -> bool:
        is_current = now < self.expires_at and changes.version(self.shop) <= self.mark
        return is_current and (self.until is None or clock.now() < self.until)


class Edge:
    """A WSGI layer that caches at most `capacity` bytes. With 0, it forwards every request to the application."""

    def __init__(self, application: Callable[..., Any], capacity: int) -> None:
        self.application = application
        self.cache: MemoryCache[CacheEntry] = MemoryCache(capacity)
        # Catalogue reads that came from memory, and from Django. Integers, since the library's counters take longer.
        self.hits = self.misses = 0
        self.count_lock = Lock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        target = _target(environ)
        if target is None:
            return self.application(environ, start_response)
        started = time.monotonic()
        credential = None if "HTTP_ORIGIN" in environ else _credential(environ)
        if self.cache.capacity and credential:
            body = self._answer_if_cached(environ, start_response, target, credential, started)
            if body is not None:
                return body
        return self._forward(environ, start_response, target, credential, started)

    def answer_from_memory(
        self, environ: Environ, start_response: StartResponse, *, may_block: bool = False
    ) -> list[bytes] | None:
        """The response if it is cached, otherwise None. Raises NeedsThread, and has counted nothing yet, if it is
        cached but needs slow work, and may not block: a call to Redis, or compression."""
        target = _target(environ)
        if target is None or not self.cache.capacity or "HTTP_ORIGIN" in environ:
            return None
        credential = _credential(environ)
        if credential is None:
            return None
        started = time.monotonic()
        return self._answer_if_cached(environ, start_response, target, credential, started, may_block=may_block)

    def _answer_if_cached(
        self,
        environ: Environ,
        start: StartResponse,
        target: Target,
        credential: bytes,
        started: float,
        *,
        may_block: bool = True,
    ) -> list[bytes] | None:
        listening.start()
        found = self._find(credential, target, environ.get("HTTP_ACCEPT_LANGUAGE"), started)
        if not found:
            return None
        caller, key, entry = found
        if not may_block and (_is_counted_in_redis(caller) or _needs_compression(environ, entry)):
            raise NeedsThread
        quota = _count_call(caller)
        if quota is None:
            return None
        token_use.record_use(caller.digest)
        return self._answer_and_log(environ, start, caller, key, entry, quota, started)

    def _find(
        self, credential: bytes, target: Target, accepted: str | None, now: float
    ) -> tuple[CachedCaller, Any, CacheEntry] | None:
        """The credential's caller, and the key and entry of the response, if both are cached and fresh."""
        caller_entry = self.cache.get(credential)
        if caller_entry is None:
            return None
        caller: CachedCaller = caller_entry.value
        if not caller_entry.is_fresh(now) or caller.expires_at <= time.time():
            self.cache.drop(credential, caller_entry)
            return None
        language = preferred_language(accepted, caller.languages) if accepted and caller.languages else ""
        key = (caller_entry.shop, target, language)
        entry = self.cache.get(key)
        if entry is None:
            return None
        if not entry.is_fresh(now):
            self.cache.drop(key, entry)
            return None
        return caller, key, entry

    def _answer_and_log(
        self,
        environ: Environ,
        start: StartResponse,
        caller: CachedCaller,
        key: Any,
        entry: CacheEntry,
        quota: Headers,
        started: float,
    ) -> list[bytes]:
        id = request_id(environ, settings.TRUSTED_PROXIES)
        status, body = self._answer(environ, start, key, entry, [*quota, ("X-Request-Id", id)])
        line = (time.time(), id, environ["REQUEST_METHOD"], environ["PATH_INFO"], status)
        seconds = time.monotonic() - started
        access_log.buffer.add(*line, seconds * 1000, caller.shop, caller.name)
        load.count(caller.shop, seconds)
        with self.count_lock:
            self.hits += 1
        return body

    def _answer(
        self, environ: Environ, start: StartResponse, key: Any, entry: CacheEntry, own: Headers
    ) -> tuple[int, list[bytes]]:
        """Status and body of the entry, as a 304 if the caller has it already. `own` are this response's headers."""
        encoded = self._encode(environ, key, entry)
        if_none_match = environ.get("HTTP_IF_NONE_MATCH")
        if if_none_match is not None and encoded.matches(if_none_match):
            start("304 Not Modified", encoded.not_modified_headers + own)
            return 304, [b""]
        start("200 OK", encoded.ok_headers + own)
        return 200, [encoded.body if environ["REQUEST_METHOD"] == "GET" else b""]

    def _encode(self, environ: Environ, key: Any, entry: CacheEntry) -> EncodedResponse:
        """The response in the caller's encoding. Compresses it once, which makes the entry larger."""
        representation: Representation = entry.value
        if not representation.should_gzip(environ.get("HTTP_ACCEPT_ENCODING")):
            return representation.plain
        if representation.gzipped is None:
            self.cache.grow(key, entry, len(representation.compress().body))
        return representation.gzipped  # type: ignore[return-value]

    def _forward(
        self, environ: Environ, start: StartResponse, target: Target, credential: bytes | None, started: float
    ) -> Iterable[bytes]:
        """Django's response. One of the catalogue is cached, and sent in the caller's encoding."""
        with self.count_lock:
            self.misses += 1
        mark = changes.latest_change()
        calls: list[tuple[str, Headers]] = []
        response = self.application(environ, lambda status, headers, *_: calls.append((status, headers)))
        status, headers = calls[0]
        if not isinstance(response, Revalidated):
            start(status, headers)
            return response
        response.close()
        entry, own = _entry(response, headers, mark, started - getattr(response, "read_seconds_ago", 0))
        caller = CachedCaller(response.caller)
        key = (entry.shop, target, preferred_language(environ.get("HTTP_ACCEPT_LANGUAGE", ""), caller.languages))
        if credential and SCOPE in response.caller.scopes and entry.is_fresh(started):
            self.cache.put(credential, CacheEntry(caller, entry.shop, mark, started, CALLER_BYTES))
            self.cache.put(key, entry)
        return self._answer(environ, start, key, entry, own)[1]


def _target(environ: Environ) -> Target | None:
    """The part of the catalogue that the request reads; None if it is not a plain read of the catalogue."""
    path, query = environ["PATH_INFO"], environ.get("QUERY_STRING", "")
    if (
        not path.startswith(PREFIXES)
        or environ["REQUEST_METHOD"] not in ("GET", "HEAD")
        or len(path) + len(query) > MAX_ADDRESS_LENGTH
        or environ.get("CONTENT_LENGTH", "0") not in ("0", "")
        or "HTTP_TRANSFER_ENCODING" in environ
    ):
        return None
    return canonical_target(path, query)


@lru_cache(maxsize=2048)
def canonical_target(path: str, query: str) -> Target | None:
    """Path and query without repetitions, order, and the values of unknown parameters; None for a path outside the
    catalogue."""
    text = path + query
    if not text.isascii() or not text.isprintable() or "%00" in query:
        return None
    if path not in PREFIXES and not (path.startswith(SINGLES) and path.count("/") == LIST.count("/") + 1):
        return None
    given = QueryDict(query)
    known = PARAMETERS if path == LIST else SINGLE_PARAMETERS if path.startswith(f"{LIST}/") else CATEGORY_PARAMETERS
    ignored = header_value(name for name in given if name not in known)
    return path, tuple((name, given[name]) for name in known if name in given), ignored


def _credential(environ: Environ) -> bytes | None:
    """The digest under which the caller is cached. Reads the same headers as `shops.auth.installation_token`."""
    own = environ.get("HTTP_X_SHOP_ACCESS_TOKEN", "").strip()
    # With a mark, so that the text of one header never stands for that of the other.
    header = f"\n{own}" if own else environ.get("HTTP_AUTHORIZATION")
    if not header or len(header) > MAX_CREDENTIAL_LENGTH or not header.isascii():
        return None
    return sha256(header.encode()).digest()


def _is_counted_in_redis(caller: CachedCaller) -> bool:
    return caller.requests_per_minute is not None and settings.REDIS_URL is not None


def _needs_compression(environ: Environ, entry: CacheEntry) -> bool:
    representation: Representation = entry.value
    return representation.gzipped is None and representation.should_gzip(environ.get("HTTP_ACCEPT_ENCODING"))


def _count_call(caller: CachedCaller) -> Headers | None:
    """Count the call; the rate limit's headers, or None if the limit is exceeded, which Django then reports."""
    if caller.requests_per_minute is None:
        return []
    allowed, quota = ratelimit.count_call(caller.counted_as, per_minute=caller.requests_per_minute)
    return list(quota.headers.items()) if allowed else None


def _entry(response: Revalidated, headers: Headers, mark: int, started: float) -> tuple[CacheEntry, Headers]:
    """The entry to cache, and the headers that belong to this response alone."""
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
    representation = Representation(response.representation, etag, shared)
    size = len(response.representation) + ENTRY_OVERHEAD_BYTES
    return CacheEntry(representation, response.caller.shop.pk, mark, started, size, response.until), own

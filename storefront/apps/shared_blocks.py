"""Caches blocks that are the same for all visitors, such as those of a product.

The request to the app does not depend on the visitor, so this process caches the answer for half a minute
(`SHARED_FOR`), by extension and request. A visitor who needs an answer that another thread is already fetching waits
for that one. A page without cached blocks makes up to twenty calls, so the calls in flight of one shop are limited
(`MAX_PER_SHOP`), and so are those that one place causes in a minute (`MAX_PER_PLACE`). Beyond these limits a page shows
cached blocks only.
"""

from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from threading import Lock
from typing import Any

import orjson
import structlog
from cachetools import LRUCache

from storefront.apps import rendering
from storefront.apps.models import Extension
from storefront.apps.rendering import Block
from storefront.kit.windows import Windows
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

SHARED_FOR = timedelta(seconds=30)
# Bytes of cached blocks, of all shops together, and bytes that an entry costs besides its text.
MAX_BYTES, OVERHEAD = 8 * 1024 * 1024, 500
# Calls of one process: in flight for one shop, and caused by one place in a minute.
MAX_PER_SHOP, MAX_PER_PLACE = 20, 60

Key = tuple[int, str]


@dataclass
class _CachedBlock:
    html: str
    at: datetime

    @property
    def size(self) -> int:
        """Size of the entry in bytes."""
        return len(self.html.encode()) + OVERHEAD


@dataclass
class _Cache:
    entries: LRUCache[Key, _CachedBlock] = field(
        default_factory=lambda: LRUCache(MAX_BYTES, getsizeof=lambda entry: entry.size)
    )
    # Calls in flight: the future result of each, and their number by shop and by place.
    in_flight: dict[Key, Future[str]] = field(default_factory=dict)
    of_shop: Counter[int] = field(default_factory=Counter)
    of_place: Windows = field(default_factory=Windows)
    lock: Lock = field(default_factory=Lock)

    def fresh(self, key: Key, now: datetime) -> str | None:
        found = self.entries.get(key)
        # A concurrent request that began later may have stored its answer first.
        if found is None or abs(now - found.at) >= SHARED_FOR:
            return None
        return found.html

    def store(self, key: Key, html: str, now: datetime) -> None:
        self.entries[key] = _CachedBlock(html, now)


cache = _Cache()


def clear_cache() -> None:
    """Start with an empty cache, as a new process does."""
    global cache
    cache = _Cache()


def shared_blocks(shop: Shop, type: str, *, payload: dict[str, Any], place: str, now: datetime) -> list[Block]:
    """The shop's blocks of this type, the same for all visitors, in the order of registration of their extensions.

    `place` is the visitor's place (`callers.place_of`). Takes as long as the slowest app, up to its timeout. Failing
    apps raise nothing.
    """
    extensions = rendering.available_extensions(shop, type, now)
    if not extensions:
        return []
    digest = sha256(orjson.dumps([shop.domain, shop.currency, payload])).hexdigest()
    keys = {extension.pk: (extension.pk, f"{extension.callback_url} {digest}") for extension in extensions}
    with rendering.waiting_slot() as has_slot:
        html, pending, own = _look_up(shop, extensions, keys, place if has_slot else None, now)
        html |= _fetch(shop, own, keys, payload, now) if own else {}
        html |= {extension.pk: _result(extension, future) for extension, future in pending}
    return [
        Block(html[extension.pk], extension.pk, str(extension.installation))
        for extension in extensions
        if html.get(extension.pk)
    ]


def _result(extension: Extension, future: Future[str]) -> str:
    try:
        return future.result(extension.timeout_ms / 1000)
    except TimeoutError:
        return ""


Pending = list[tuple[Extension, Future[str]]]


def _look_up(
    shop: Shop, extensions: list[Extension], keys: dict[int, Key], place: str | None, now: datetime
) -> tuple[dict[int, str], Pending, list[Extension]]:
    """The cached HTML of these extensions by id, the pending results of other threads, and the extensions that this
    request has to call. Without a place, only cached HTML."""
    current, found, pending, own = cache, {}, [], []
    with current.lock:
        for extension in extensions:
            key = keys[extension.pk]
            if (html := current.fresh(key, now)) is not None:
                found[extension.pk] = html
            elif place is None:
                log.warning("blocks_left_out", shop=shop.pk, extension=extension.pk)
            elif key in current.in_flight:
                pending.append((extension, current.in_flight[key]))
            elif current.of_shop[shop.pk] >= MAX_PER_SHOP or not current.of_place.count(place, MAX_PER_PLACE)[0]:
                log.warning("blocks_left_out", shop=shop.pk, extension=extension.pk, place=place)
            else:
                current.in_flight[key] = Future()
                current.of_shop[shop.pk] += 1
                own.append(extension)
    return found, pending, own


def _fetch(
    shop: Shop, own: list[Extension], keys: dict[int, Key], payload: dict[str, Any], now: datetime
) -> dict[int, str]:
    """Call these extensions, cache their HTML, and give it to the threads that wait for it. After a failed call they
    get an empty text."""
    current = cache
    answered: dict[int, str] = {}
    try:
        answered = rendering.fetch_html(shop, own, payload=payload, now=now)
    finally:
        with current.lock:
            for extension in own:
                key = keys[extension.pk]
                if extension.pk in answered:
                    current.store(key, answered[extension.pk], now)
                current.in_flight.pop(key).set_result(answered.get(extension.pk, ""))
                current.of_shop[shop.pk] -= 1
            if not current.of_shop[shop.pk]:
                del current.of_shop[shop.pk]
    return answered

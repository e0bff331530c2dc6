"""Cache invalidation: when a shop's data last changed, as far as this process knows.

A cache takes `mark = latest_change()` before it reads the database, and uses the entry while `version(shop) <= mark`.
So a response that was read before a write and cached after it is never used.

A process learns of its own writes when they are committed, and of other processes' writes from the listener of the web
process (`server/edge/listening.py`): on PostgreSQL by NOTIFY after the commit (`shops/announcing.py`), so that sales
never queue for each other; on SQLite, where writers queue anyway, by a number in a table. Notifications can get lost,
so every cache drops entries after MAX_STALE_SECONDS seconds.
"""

from functools import partial
from threading import Lock

from django.db import transaction

from storefront.shops.dialect import dialect

# Longest life of a cache entry in seconds, counted from before its data was read.
MAX_STALE_SECONDS = 5.0

_lock = Lock()
_clock = 0
_of_all = 0
_of_shop: dict[int, int] = {}


def publish_change(shop_id: int) -> None:
    """Announce to all processes that the shop's catalogue, settings or access has changed.

    Call it in the transaction of the change; it takes effect with the commit.
    """
    dialect.announce_on_commit(shop_id)
    transaction.on_commit(partial(record_change, shop_id))


def latest_change() -> int:
    """Number of the latest change that this process knows of, in any shop."""
    return _clock


def version(shop_id: int) -> int:
    """Number of the shop's last change that this process knows of; never decreases."""
    own = _of_shop.get(shop_id, 0)
    return own if own > _of_all else _of_all


def record_change(shop_id: int) -> None:
    """Record in this process that the shop has changed, which invalidates its cache entries."""
    global _clock
    with _lock:
        _of_shop[shop_id] = _clock = _clock + 1


def record_change_of_all() -> None:
    """Record in this process that any shop may have changed, since notifications may have been missed."""
    global _clock, _of_all
    with _lock:
        _of_all = _clock = _clock + 1

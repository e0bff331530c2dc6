"""Counts the addresses at which a shop has no page, without a database write for each request.

A request adds to this process's memory; once a minute a thread writes all counts. A process that is killed loses the
counts of a minute.

Threats. Strangers can ask for addresses that nobody links to. So memory and table are bounded. In full memory a new
address pushes out what was asked for least; in a full table the latest stay, and of the others what was asked for most,
where requests count less with each day. Only the path is kept: no query, no visitor. Paths that
look like secrets, addresses of people or probes for other programs' files are not counted (`countable.py`).
"""

import threading
from collections import Counter, defaultdict
from datetime import datetime, timedelta

import structlog
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import F

from storefront.content.addresses import normal_path
from storefront.content.countable import is_countable
from storefront.content.models import MissingPath
from storefront.kit import clock
from storefront.kit.each_minute import EachMinute
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# Addresses of a shop, and of one in this process's memory; and of all shops there.
MAX_PATHS, MAX_PENDING_OF_SHOP, MAX_PENDING = 1_000, 100, 2_000
# Rows that stay however little they were asked for, so that new addresses can gather requests in a full table.
MAX_LATEST = 200
# Rows that were not asked for in as long make room first.
FADES_AFTER = timedelta(days=30)

_pending: defaultdict[int, Counter[str]] = defaultdict(Counter)
_lock = threading.Lock()
_flush_lock = threading.Lock()


def count(shop_id: int, path: str) -> None:
    """Count a request for this decoded path, at which the shop has no page."""
    path = normal_path(path)
    if not is_countable(path):
        return
    with _lock:
        counts = _pending[shop_id]
        if path not in counts:
            _make_room(counts)
        counts[path] += 1


def _make_room(counts: Counter[str]) -> None:
    """Push out what was asked for least, the earliest of it, if memory is full: of this shop, or of the shop that has
    most."""
    full = counts
    if len(counts) < MAX_PENDING_OF_SHOP:
        if sum(map(len, _pending.values())) < MAX_PENDING:
            return
        full = max(_pending.values(), key=len)
    del full[min(full, key=lambda path: full[path])]


def flush(now: datetime | None = None) -> None:
    """Write the counts to the database. What cannot be written is kept for the next time."""
    with _flush_lock:
        with _lock:
            taken = {shop_id: counts for shop_id, counts in _pending.items() if counts}
            _pending.clear()
        for shop_id, counts in sorted(taken.items()):
            try:
                _write(shop_id, counts, now or clock.now())
            except (DatabaseError, InterfaceError) as error:
                log.warning("missing_pages_not_written", reason=str(error).strip())
                with _lock:
                    _pending[shop_id].update(counts)


@transaction.atomic
def _write(shop_id: int, counts: Counter[str], now: datetime) -> None:
    # Locked, so that processes write one after the other; a shop that is gone has no row.
    if not Shop.objects.select_for_update(no_key=True).filter(pk=shop_id).values_list("pk").first():
        return
    rows = MissingPath.objects.filter(shop=shop_id)
    existing = dict(rows.filter(path__in=list(counts)).values_list("path", "pk"))
    for path, pk in sorted(existing.items()):
        rows.filter(pk=pk).update(asked=F("asked") + counts[path], last_asked_at=now)
    MissingPath.objects.bulk_create(
        MissingPath(shop_id=shop_id, path=path, asked=asked, last_asked_at=now)
        for path, asked in sorted(counts.items())
        if path not in existing
    )
    surplus = rows.count() - MAX_PATHS
    if surplus > 0:
        latest = rows.order_by("-last_asked_at", "-pk").values_list("pk", "asked", "last_asked_at")
        older = sorted(latest[MAX_LATEST:], key=lambda row: _worth(row[1], row[2], now))
        doomed = [pk for pk, _, _ in older[:surplus]]
        rows.filter(pk__in=doomed).delete()


def _worth(asked: int, last_asked_at: datetime, now: datetime) -> tuple[float, datetime]:
    """Sorts rows by what they are worth keeping: requests count less with each day since the last one."""
    idle = now - last_asked_at
    return (0 if idle > FADES_AFTER else asked / (1 + max(idle.days, 0))), last_asked_at


def _forget() -> None:
    global _lock, _flush_lock
    _lock, _flush_lock = threading.Lock(), threading.Lock()
    _pending.clear()


start = EachMinute("missing pages", flush, _forget).start

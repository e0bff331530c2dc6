"""Counts each shop's requests and the time that they took, without a database write for each request.

A request adds to this process's memory, by the shop's domain; once a minute a thread adds all counts to the day's rows
(`ShopLoad`). Answers from memory count, too. A process that is killed loses the counts of a minute.
"""

import threading
from datetime import datetime, timedelta

import structlog
from django.db import DatabaseError, InterfaceError, connection

from storefront.deployment.models import ShopLoad
from storefront.kit import clock
from storefront.kit.each_minute import EachMinute
from storefront.pods.moves import NOT_MOVING
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

KEPT = timedelta(days=30)
# Shops in one statement.
BATCH_ROWS = 500
_ADD = """
    INSERT INTO deployment_shopload (shop_id, day, requests, milliseconds) VALUES {rows}
    ON CONFLICT (shop_id, day) DO UPDATE SET requests = deployment_shopload.requests + excluded.requests,
    milliseconds = deployment_shopload.milliseconds + excluded.milliseconds
"""

# Requests and seconds by domain. Only domains of shops are here, so it is bounded.
_counts: dict[str, tuple[int, float]] = {}
_lock = threading.Lock()
_flush_lock = threading.Lock()


def count(domain: str, seconds: float, requests: int = 1) -> None:
    """Count requests of the shop with this domain."""
    with _lock:
        known = _counts.get(domain, (0, 0.0))
        _counts[domain] = known[0] + requests, known[1] + seconds


def flush(now: datetime | None = None) -> None:
    """Write the counts to the database. Those that cannot be written are kept for the next time."""
    with _flush_lock:
        with _lock:
            taken = sorted(_counts.items())
            _counts.clear()
        try:
            while taken:
                _write(dict(taken[:BATCH_ROWS]), now or clock.now())
                del taken[:BATCH_ROWS]
        except (DatabaseError, InterfaceError) as error:
            log.warning("load_not_written", reason=str(error).strip())
            for domain, (requests, seconds) in taken:
                count(domain, seconds, requests)


def _write(counts: dict[str, tuple[int, float]], now: datetime) -> None:
    """Add the counts to the rows of today. Those of a domain that no shop has any more are dropped."""
    day, given = connection.ops.adapt_datefield_value(now.date()), []
    # In the order of ids, so that two processes that write at once do not deadlock.
    for shop_id, domain in Shop.objects.filter(domain__in=counts).order_by("pk").values_list("pk", "domain"):
        requests, seconds = counts[domain]
        given += [shop_id, day, requests, round(seconds * 1000)]
    if given:
        rows = ", ".join(["(%s, %s, %s, %s)"] * (len(given) // 4))
        with connection.cursor() as cursor:
            cursor.execute(_ADD.format(rows=rows), given)


def delete_old_load(*, now: datetime, limit: int) -> int:
    """Delete the rows of days before KEPT, at most `limit`; returns how many."""
    old = (
        ShopLoad.objects.filter(NOT_MOVING, day__lt=(now - KEPT).date())
        .order_by("day")
        .values_list("pk", flat=True)[:limit]
    )
    return ShopLoad.objects.filter(pk__in=list(old)).delete()[0]


def _forget() -> None:
    global _lock, _flush_lock
    _lock, _flush_lock = threading.Lock(), threading.Lock()
    _counts.clear()


start = EachMinute("load", flush, _forget).start

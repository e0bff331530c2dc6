"""Leases due pictures to workers. A lease expires by itself, so the pictures of a killed worker are fetched by
another."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import F, Q, QuerySet

from storefront.kit.dialect import dialect
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.pictures.rules import LEASE, MAX_ATTEMPTS
from storefront.shops.models import Shop

KILLED = "The worker was stopped each time it fetched this picture."

# The next pair of shop and host with waiting pictures, and whether one of them is due: two look-ups in a partial index
# that contains only waiting pictures.
_NEXT_HOST = """
    SELECT waiting.shop_id, waiting.host, EXISTS (
        SELECT 1 FROM pictures_picturefetch due WHERE due.state = 'waiting' AND due.shop_id = waiting.shop_id
        AND due.host = waiting.host AND due.due_at <= %(now)s
    ) FROM (
        SELECT shop_id, host FROM pictures_picturefetch
        WHERE state = 'waiting' AND (shop_id, host) > (%(shop)s, %(host)s) AND shop_id <= %(last)s
        ORDER BY shop_id, host LIMIT 1
    ) waiting
"""
_DUE = """
    SELECT media_id FROM pictures_picturefetch WHERE state = 'waiting' AND shop_id = %(shop)s AND host = %(host)s
    AND due_at <= %(now)s ORDER BY due_at LIMIT %(most)s
"""
_CLAIM = f"""
    UPDATE pictures_picturefetch SET lease = %(lease)s, due_at = %(until)s, attempts = attempts + 1
    WHERE media_id {dialect.chosen_to_write(_DUE)} RETURNING media_id
"""  # noqa: S608, built from the query above
# Greater than every shop's id.
ANY_SHOP = 2**62


@dataclass(frozen=True)
class Job:
    """A picture to fetch. `attempts` includes this one."""

    media_id: int
    product_id: int
    shop: Shop
    host: str
    url: str
    attempts: int


def next_host(after: tuple[int, str], *, shop: Shop | None = None, now: datetime) -> tuple[int, str, bool] | None:
    """The next shop and host, in their order, with waiting pictures, and whether any of these is due; None at the end.
    With `shop`, of that shop alone."""
    first, last = (after, ANY_SHOP) if shop is None else (max(after, (shop.pk, "")), shop.pk)
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_HOST, {"shop": first[0], "host": first[1], "last": last, "now": _to_db_time(now)})
        found = cursor.fetchone()
    return (found[0], found[1], bool(found[2])) if found else None


def claim(shop_id: int, host: str, most: int, *, lease: str, now: datetime) -> list[Job]:
    """Lease up to `most` due pictures of this shop at this host, the longest waiting first. A picture whose worker was
    killed at every attempt fails instead."""
    params: dict[str, Any] = {"shop": shop_id, "host": host, "most": most, "lease": lease}
    params |= {"now": _to_db_time(now), "until": _to_db_time(now + LEASE)}
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, params)
        ids = [row[0] for row in cursor.fetchall()]
    leased = _leased_by(ids, lease)
    leased.filter(attempts__gt=MAX_ATTEMPTS).update(state=PictureFetch.State.FAILED, lease=None, reason=KILLED)
    rows = list(leased.select_related("media", "shop").order_by("pk"))
    if uploaded := [row.pk for row in rows if row.media.file]:
        # The merchant has uploaded a file instead.
        _leased_by(uploaded, lease).update(state=PictureFetch.State.FETCHED, lease=None, reason="")
    return [
        Job(row.media_id, row.media.product_id, row.shop, row.host, row.media.source_url, row.attempts)
        for row in rows
        if not row.media.file
    ]


def is_any_left(shop: Shop, *, besides: Collection[str], now: datetime) -> bool:
    """Returns True if a picture of the shop is due now at another host than these, or leased to any worker, or in a
    request that is not yet taken up."""
    # Read first: a request that another worker takes up after this read is found below.
    if PictureRequest.objects.filter(shop=shop).exists():
        return True
    waiting = PictureFetch.objects.filter(shop=shop, state=PictureFetch.State.WAITING)
    return waiting.filter(Q(lease__isnull=False) | (Q(due_at__lte=now) & ~Q(host__in=besides))).exists()


def release(ids: Collection[int], *, lease: str, now: datetime) -> None:
    """Make these pictures due now for any worker, without counting an attempt."""
    _leased_by(ids, lease).update(lease=None, due_at=now, attempts=F("attempts") - 1)


def _leased_by(ids: Collection[int], lease: str) -> QuerySet[PictureFetch]:
    return PictureFetch.objects.filter(pk__in=ids, lease=lease, state=PictureFetch.State.WAITING)


def _to_db_time(now: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(now)

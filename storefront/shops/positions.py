"""Which position a replica must have replayed to show a shop: that of what its staff and apps have written, and of all
that processes and apps were notified of.

A position is written before whoever causes it can read again: before the response to a write of an app or of staff,
before other processes hear of a change (`announcing.py`), and in the transaction that makes an event visible
(`webhooks/dispatch.py`). It is read on the primary. So no process needs to have heard of anything.
"""

from collections.abc import Iterable

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from storefront.shops import announcing
from storefront.shops.position_sql import RECORD

log = structlog.get_logger(__name__)

_READ = "SELECT position FROM shops_writtenposition WHERE shop_id = %s"


def record(shop_ids: Iterable[int]) -> None:
    """Require that replicas have replayed all that is committed now before they show these shops."""
    if settings.REPLICAS and (ids := sorted(set(shop_ids))):
        with connection.cursor() as cursor:
            cursor.execute(RECORD, [ids])


def record_write(shop_id: int) -> None:
    """The same after a write that is answered next. Its response does not fail if the position cannot be written: then
    this process reads on the primary until a further try has succeeded."""
    if settings.REPLICAS:
        try:
            record([shop_id])
        except (DatabaseError, InterfaceError) as error:
            log.warning("position_not_written", reason=" ".join(str(error).split()))
            announcing.announce(shop_id)


def needed(shop_id: int) -> int | None:
    """The position that a read of the shop needs; None if a change of this process has not been announced yet."""
    # Asked first: what is announced after this changes the shop's version, and no cache keeps what is read here.
    if announcing.is_waiting(shop_id):
        return None
    with connection.cursor() as cursor:
        cursor.execute(_READ, [shop_id])
        found = cursor.fetchone()
    return found[0] if found else 0

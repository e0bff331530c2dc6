"""Whether what a shop shows to callers of the API has changed, as far as this process knows.

Whoever remembers an answer asks for `mark()` before reading the database, and trusts what it remembered as long as
`version(shop) <= mark`. So an answer that was read before a write and remembered after it is never taken for fresh.

A process hears of its own writes when they are committed, and of others' by the listener of the web process
(`server/listening.py`): on PostgreSQL by NOTIFY, so that sales never queue on a row; on SQLite, whose writers queue as
it is, by a number in a table. Whoever remembers something drops it after LONGEST in any case, since news can get lost.
"""

from functools import partial
from threading import Lock

from django.db import connection, transaction

CHANNEL = "storefront_changes"
# Seconds that anything may be remembered for, counted from before it was read.
LONGEST = 5.0

_COUNT = """
    INSERT INTO shops_change (shop_id, number) SELECT %s, coalesce(max(number), 0) + 1 FROM shops_change WHERE true
    ON CONFLICT (shop_id) DO UPDATE SET number = excluded.number
"""

_lock = Lock()
_clock = 0
_of_all = 0
_of_shop: dict[int, int] = {}


def changed(shop_id: int) -> None:
    """Make known that the shop's catalogue, its settings, or who may read it has changed.

    Belongs into the transaction of the change, and comes true with it.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(shop_id)])
        else:
            cursor.execute(_COUNT, [shop_id])
    transaction.on_commit(partial(note, shop_id))


def mark() -> int:
    """This moment among the changes that this process knows of."""
    return _clock


def version(shop_id: int) -> int:
    """When the shop last changed, among the changes that this process knows of; never goes back."""
    own = _of_shop.get(shop_id, 0)
    return own if own > _of_all else _of_all


def note(shop_id: int) -> None:
    """The shop has changed: from now on nothing that was remembered of it before is trusted."""
    global _clock
    with _lock:
        _of_shop[shop_id] = _clock = _clock + 1


def note_all() -> None:
    """Any shop may have changed, since news may have been missed."""
    global _clock, _of_all
    with _lock:
        _of_all = _clock = _clock + 1

"""Gives events their place in the shop's feed, and makes a delivery of each for whoever has registered for it.

An event is written down by whatever made it happen, without a number, so that placing orders never queues on a counter.
Here it gets one, in a transaction that holds the shop's row of `Feed`: numbers have no gaps, and a reader who has seen
number 7 will never find another 6 later. Any number of workers may do this; a shop that one has in hand is left alone
by the others.
"""

from datetime import datetime
from typing import Any

from django.db import connection, transaction

# Shops in one transaction, and events of each. What is left comes with the next call, so that a shop with thousands
# of events lets the others have their turn.
MOST_SHOPS = 200
MOST_EVENTS = 500

# One look at the index for each shop that waits, not one for each event.
_WAITING = """
    WITH RECURSIVE waiting (shop_id) AS (
        SELECT min(shop_id) FROM webhooks_event WHERE sequence IS NULL AND shop_id > %(after)s
        UNION ALL
        SELECT (SELECT min(shop_id) FROM webhooks_event WHERE sequence IS NULL AND shop_id > waiting.shop_id)
        FROM waiting WHERE waiting.shop_id IS NOT NULL
    )
    SELECT shop_id FROM waiting WHERE shop_id IS NOT NULL LIMIT %(most)s
"""
_FEEDS = "INSERT INTO webhooks_feed (shop_id, last_sequence) VALUES {rows} ON CONFLICT (shop_id) DO NOTHING"
_LOCK = "SELECT shop_id FROM webhooks_feed WHERE shop_id IN ({shops}) ORDER BY shop_id{skip_locked}"
_NUMBER = """
    WITH bounds AS MATERIALIZED (
        SELECT shop_id, last_sequence, coalesce((
            SELECT event.id FROM webhooks_event event WHERE event.shop_id = feed.shop_id AND event.sequence IS NULL
            ORDER BY event.id LIMIT 1 OFFSET %(last)s
        ), 9223372036854775807) AS last_id
        FROM webhooks_feed feed WHERE shop_id IN ({shops})
    ), numbered AS (
        SELECT event.id,
            bounds.last_sequence + row_number() OVER (PARTITION BY event.shop_id ORDER BY event.id) AS place
        FROM bounds JOIN webhooks_event event
        ON event.shop_id = bounds.shop_id AND event.sequence IS NULL AND event.id <= bounds.last_id
    )
    UPDATE webhooks_event SET sequence = numbered.place FROM numbered WHERE webhooks_event.id = numbered.id
    RETURNING webhooks_event.id
"""
_COUNT = """
    UPDATE webhooks_feed SET last_sequence = coalesce((
        SELECT max(event.sequence) FROM webhooks_event event WHERE event.shop_id = webhooks_feed.shop_id
        AND event.sequence > webhooks_feed.last_sequence
    ), last_sequence) WHERE shop_id IN ({shops})
"""
# An app hears of its own uninstall alone, and that is sent when it happens.
_DELIVER = """
    INSERT INTO webhooks_delivery (shop_id, installation_id, kind, registration_id, event_id, message_id, topic,
        address, receiver, status, tries, earlier_tries, due_at, created_at)
    SELECT event.shop_id, registration.installation_id, 'event', registration.id, event.id, event.public_id,
        event.topic, registration.address, registration.receiver, 'pending', 0, 0, %(now)s, %(now)s
    FROM webhooks_event event JOIN webhooks_registration registration
        ON registration.shop_id = event.shop_id AND registration.topic = event.topic
    WHERE event.id IN ({events}) AND event.topic <> 'app.uninstalled'
    ORDER BY event.id{keep}
    ON CONFLICT (event_id, registration_id) DO NOTHING
"""


def dispatch(now: datetime) -> int:
    """Dispatch what waits, at most MOST_EVENTS of each shop: how many events that were. Call it again until it is 0."""
    dispatched, shops = 0, waiting_shops()
    while shops:
        dispatched += _dispatch(shops, now)
        shops = waiting_shops(after=shops[-1])
    return dispatched


def waiting_shops(after: int = 0) -> list[int]:
    """The ids of the next shops that have events without a number."""
    return _run(_WAITING, {"after": after, "most": MOST_SHOPS})


@transaction.atomic
def _dispatch(shops: list[int], now: datetime) -> int:
    events = _number(_locked(shops))
    if events:
        _run(_DELIVER, {"now": connection.ops.adapt_datetimefield_value(now)}, events=events)
    return len(events)


def _locked(shops: list[int]) -> list[int]:
    """Those of the shops that no other worker dispatches; none will before the transaction ends."""
    _run(_FEEDS, rows=", ".join(f"({shop}, 0)" for shop in shops))
    return _run(_LOCK, shops=shops, skip_locked=_on_postgresql(" FOR UPDATE SKIP LOCKED"))


def _number(shops: list[int]) -> list[int]:
    """The ids of the events that got their number. A statement of its own, so that it sees what those who held the
    shops before have done."""
    if not shops:
        return []
    events = _run(_NUMBER, {"last": MOST_EVENTS - 1}, shops=shops)
    _run(_COUNT, shops=shops)
    return events


def _on_postgresql(clause: str) -> str:
    """A clause about row locks; SQLite has none, and there a write transaction is alone anyway."""
    return clause if connection.vendor == "postgresql" else ""


def _run(statement: str, given: dict[str, Any] | None = None, **parts: Any) -> list[Any]:
    """The first column of what the statement returns, if it does. Lists of ids among the parts are written out."""
    texts = {
        name: ", ".join(map(str, map(int, part))) if isinstance(part, list) else part for name, part in parts.items()
    }
    keep = _on_postgresql(" FOR KEY SHARE OF registration")
    with connection.cursor() as cursor:
        cursor.execute(statement.format(keep=keep, **texts) if parts else statement, given)
        return [row[0] for row in cursor.fetchall()] if cursor.description else []

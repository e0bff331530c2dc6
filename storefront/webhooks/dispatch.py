"""Numbers events in the shop's feed and creates their deliveries, one for each webhook with the event's topic
(R-HOOK-7).

Actions record events without a number, so that placing orders never waits for a counter. Dispatch numbers them in a
transaction that locks the shop's row of `Feed`: numbers have no gaps, and a reader who has seen number 7 never finds a
new number 6 later. Several workers may dispatch at the same time; a shop that one worker has locked is skipped by the
others.
"""

from datetime import datetime
from typing import Any

from django.db import connection, transaction

from storefront.kit.dialect import dialect
from storefront.pods.moves import WORKED_ON
from storefront.shops import positions
from storefront.webhooks.topics import OWN_TOPICS

# Shops in one transaction, and events of each shop in one call. Later calls dispatch the rest, so that a shop with
# thousands of events does not delay other shops.
MAX_SHOPS = 200
MAX_EVENTS = 500

# One index lookup for each shop with new events, not one for each event. The database refuses writes of a shop that is
# about to move, which must not hold up the others.
_WAITING = """
    WITH RECURSIVE waiting (shop_id) AS (
        SELECT min(shop_id) FROM webhooks_event WHERE sequence IS NULL AND shop_id > %(after)s
        UNION ALL
        SELECT (SELECT min(shop_id) FROM webhooks_event WHERE sequence IS NULL AND shop_id > waiting.shop_id)
        FROM waiting WHERE waiting.shop_id IS NOT NULL
    )
    SELECT shop_id FROM waiting WHERE shop_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM pods_shopmove move WHERE move.shop_id = waiting.shop_id
        AND move.step NOT IN ({worked_on})
    ) LIMIT %(most)s
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
        SELECT event.id, event.created_at,
            bounds.last_sequence + row_number() OVER (PARTITION BY event.shop_id ORDER BY event.id) AS place
        FROM bounds JOIN webhooks_event event
        ON event.shop_id = bounds.shop_id AND event.sequence IS NULL AND event.id <= bounds.last_id
    )
    UPDATE webhooks_event SET sequence = numbered.place FROM numbered
    WHERE webhooks_event.id = numbered.id AND webhooks_event.created_at = numbered.created_at
    RETURNING webhooks_event.id
"""
_COUNT = """
    UPDATE webhooks_feed SET last_sequence = coalesce((
        SELECT max(event.sequence) FROM webhooks_event event WHERE event.shop_id = webhooks_feed.shop_id
        AND event.sequence > webhooks_feed.last_sequence
    ), last_sequence) WHERE shop_id IN ({shops})
"""
# `OWN_TOPICS` are sent only to the app itself, by actions (R-HOOK-21).
_DELIVER = """
    INSERT INTO webhooks_delivery (shop_id, installation_id, kind, registration_id, event_id, message_id, topic,
        address, receiver, status, tries, earlier_tries, due_at, created_at)
    SELECT event.shop_id, registration.installation_id, 'event', registration.id, event.id, event.public_id,
        event.topic, registration.address, registration.receiver, 'pending', 0, 0, %(now)s, %(now)s
    FROM webhooks_event event JOIN webhooks_registration registration
        ON registration.shop_id = event.shop_id AND registration.topic = event.topic
    WHERE event.id IN ({events}) AND event.topic NOT IN ({own_topics})
    ORDER BY event.id{keep}
    ON CONFLICT DO NOTHING
"""


def dispatch(now: datetime) -> int:
    """Dispatch new events, at most MAX_EVENTS of each shop. Returns how many; call it again until that is 0."""
    dispatched, shops = 0, shops_with_new_events()
    while shops:
        dispatched += _dispatch(shops, now)
        shops = shops_with_new_events(after=shops[-1])
    return dispatched


def shops_with_new_events(after: int = 0) -> list[int]:
    """The ids of the next MAX_SHOPS shops after this id that have events without a number."""
    worked_on = ", ".join(f"'{step}'" for step in WORKED_ON)
    return _run(_WAITING, {"after": after, "most": MAX_SHOPS}, worked_on=worked_on)


@transaction.atomic
def _dispatch(shops: list[int], now: datetime) -> int:
    locked = _lock_feeds(shops)
    events = _number_events(locked)
    if events:
        own_topics = ", ".join(f"'{topic}'" for topic in OWN_TOPICS)
        _run(_DELIVER, {"now": connection.ops.adapt_datetimefield_value(now)}, events=events, own_topics=own_topics)
        # Who receives an event must read the change that caused it. Last, since until the commit, the announcers of all
        # processes wait for these rows, with the changes of other shops, too.
        positions.record(locked)
    return len(events)


def _lock_feeds(shops: list[int]) -> list[int]:
    """Lock the feeds of these shops, and return the shops that no other worker has locked."""
    _run(_FEEDS, rows=", ".join(f"({shop}, 0)" for shop in shops))
    return _run(_LOCK, shops=shops, skip_locked=dialect.SKIP_LOCKED)


def _number_events(shops: list[int]) -> list[int]:
    """Number the events of these shops. Returns their ids. A separate statement from the lock, so that it sees what
    previous holders of the lock committed."""
    if not shops:
        return []
    events = _run(_NUMBER, {"last": MAX_EVENTS - 1}, shops=shops)
    _run(_COUNT, shops=shops)
    return events


def _run(statement: str, params: dict[str, Any] | None = None, **fragments: Any) -> list[Any]:
    """The first column of the rows that the statement returns. Fragments are formatted into the statement; a fragment
    that is a list of ids becomes a comma-separated text."""
    texts = {
        name: ", ".join(map(str, map(int, value))) if isinstance(value, list) else value
        for name, value in fragments.items()
    }
    keep = dialect.KEY_SHARE.format("registration")
    with connection.cursor() as cursor:
        cursor.execute(statement.format(keep=keep, **texts) if fragments else statement, params)
        return [row[0] for row in cursor.fetchall()] if cursor.description else []

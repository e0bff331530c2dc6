"""When a delivery is tried again, and what an answer means for it. Durations are timedeltas, sizes are bytes."""

import hashlib
from datetime import datetime, timedelta
from random import Random
from urllib.parse import urlsplit

# From one try to the next; the first follows at once (decisions: Delivery). After the last, the delivery is dead.
WAITS = [
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
]
MOST_TRIES = len(WAITS) + 1
# Share of a wait by which it may be longer, so that what failed together does not come back together.
JITTER = 0.1
# A receiver may ask for more patience than this; it does not get it.
LONGEST_RETRY_AFTER = timedelta(hours=24)
# A registration to which nothing got through for so long is paused.
LONGEST_FAILING = timedelta(days=3)
GONE = 410

_random = Random()  # noqa: S311, it only spreads tries


def next_wait(tries: int, *, retry_after: timedelta | None = None, random: Random = _random) -> timedelta | None:
    """How long to wait after so many failed tries, at least as long as the receiver asked; None: give up."""
    if tries >= MOST_TRIES:
        return None
    wait = WAITS[tries - 1] * (1 + random.uniform(0, JITTER))
    return max(wait, min(retry_after or timedelta(0), LONGEST_RETRY_AFTER))


def is_success(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def failing_too_long(failing_since: datetime | None, now: datetime) -> bool:
    return failing_since is not None and now - failing_since >= LONGEST_FAILING


def receiver_of(address: str) -> int:
    """A number for the host and port that an address leads to: tables and indexes hold it instead of the name. Two
    hosts of one number would merely share a queue."""
    parts = urlsplit(address)
    place = f"{parts.scheme}://{parts.hostname}:{parts.port or ''}"
    return int.from_bytes(hashlib.sha256(place.encode()).digest()[:8]) >> 1

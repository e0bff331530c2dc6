"""The retry schedule, what counts as success, and the numbers of receivers. Durations are timedeltas."""

import hashlib
from datetime import timedelta
from random import Random
from urllib.parse import urlsplit

# From each failed attempt to the next; the first attempt is made at once (R-HOOK-10).
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
MAX_TRIES = len(WAITS) + 1
# Largest random extension, as a share of the wait, so that deliveries that failed together are not retried together.
JITTER = 0.1
# The longest `Retry-After` that is honoured.
MAX_RETRY_AFTER = timedelta(hours=24)
# A registration is paused when all attempts have failed for so long.
MAX_FAILING = timedelta(days=3)
GONE = 410

_INSTALLATION_BITS = 31

_random = Random()  # noqa: S311, it only spreads attempts


def next_wait(
    tries: int, *, most: int = MAX_TRIES, retry_after: timedelta | None = None, random: Random = _random
) -> timedelta | None:
    """The wait after this many failed attempts, at least `retry_after`; None if `most` attempts were made."""
    if tries >= most:
        return None
    wait = WAITS[tries - 1] * (1 + random.uniform(0, JITTER))
    return max(wait, min(retry_after or timedelta(0), MAX_RETRY_AFTER))


def is_success(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def receiver_of(installation_id: int, address: str) -> int:
    """The number of a receiver, which is an installation at the address's scheme, host and port. Each receiver has its
    own queue, so that apps at one host do not wait for each other.

    The last 31 bits are the installation's id, the others a hash of the host. If two hosts have the same hash, they
    merely share the limits of one host.
    """
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.hostname}:{parts.port or ''}"
    host = int.from_bytes(hashlib.sha256(origin.encode()).digest()[:4])
    return host << _INSTALLATION_BITS | installation_id & (1 << _INSTALLATION_BITS) - 1


def host_of(receiver: int) -> int:
    """The part of a receiver's number that is the hash of its host and port."""
    return receiver >> _INSTALLATION_BITS

"""Rate limits: of credentials, and of other things that are limited by a name. Sliding windows, in Redis or in memory.

Only valid credentials with a limit are counted, so memory is bounded by the calls that were allowed in the last minute.
Names that strangers can invent are limited in number. Without Redis each web process counts for itself.
"""

import math
import time
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import ClassVar

import structlog
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from storefront.kit.refusals import TryLater
from storefront.kit.text import Text
from storefront.kit.windows import Windows

log = structlog.get_logger(__name__)

# Names that strangers can make a process store, a few hundred bytes each.
MAX_NAMES = 50_000


@dataclass(frozen=True)
class Quota:
    """The calls that a credential has left (R-LIM-11). `resets_at`: when the oldest counted call leaves the window, in
    Unix seconds."""

    limit: int
    remaining: int
    resets_at: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.resets_at),
        }


class RateLimited(TryLater):
    """The limit is used up; `retry_after` is in seconds (R-ERR-10)."""

    status, code = 429, "rate_limited"
    message: ClassVar[Text] = _("Too many requests. Please try again later.")


def count_call(credential: str, *, per_minute: int) -> tuple[bool, Quota]:
    """Count one call of this credential, unless it is refused (R-LIM-10). Returns True if the call is allowed, and the
    quota."""
    counted = _count_in_redis(RateLimitItemPerMinute(per_minute), credential) if settings.REDIS_URL else None
    allowed, remaining, resets_at = counted or _credential_windows.count(credential, per_minute)
    return allowed, Quota(per_minute, remaining, math.ceil(resets_at))


def seconds_to_wait(item: RateLimitItem, name: str, *, peek: bool = False) -> int:
    """Count one use under this name if the limit allows it, and return 0; otherwise the whole seconds to wait. With
    `peek`, nothing is counted."""
    counted = _count_in_redis(item, name, peek=peek) if settings.REDIS_URL else None
    allowed, _, resets_at = counted or process_windows(item.get_expiry()).count(name, item.amount, peek=peek)
    return 0 if allowed else _seconds_until(resets_at)


def _count_in_redis(item: RateLimitItem, name: str, *, peek: bool = False) -> tuple[bool, int, float] | None:
    """Like `Windows.count`, in Redis; None if Redis does not respond."""
    try:
        limiter = shared_limiter(settings.REDIS_URL or "")
        allowed = limiter.test(item, name) if peek else limiter.hit(item, name)
        window = limiter.get_window_stats(item, name)
        return allowed, max(0, window.remaining), window.reset_time
    except StorageError as error:
        # Counting in this process alone is better than refusing every call, or limiting none.
        log.warning("limit_storage_away", error=str(error))
        return None


def _seconds_until(moment: float) -> int:
    return max(1, math.ceil(moment - time.time()))


@lru_cache(maxsize=64)
def process_windows(seconds: int) -> Windows:
    return Windows(seconds, most_names=MAX_NAMES)


def retry_after(quota: Quota) -> int:
    """Whole seconds until the next call is allowed, at least one."""
    return max(1, quota.resets_at - math.floor(time.time()))


# Not the memory storage of `limits`: there, two threads can hold different locks for one name and exceed the limit
# (`tests/kit/test_windows.py` sees that), and a call takes 14 µs instead of 1, of 34 for an answer from memory.
# Separate from the names that strangers can invent, which would push credentials out.
_credential_windows = Windows()


def shared_limiter(url: str) -> MovingWindowRateLimiter:
    """The limiter for this Redis. Created at the first use, so that a forked worker has its own connections."""
    # One thread at a time: `limits` fails while another thread is still importing the Redis client.
    with _making:
        return _limiter(url)


_making = Lock()


@lru_cache(maxsize=4)
def _limiter(url: str) -> MovingWindowRateLimiter:
    # A Redis that does not respond delays a request at most this long.
    storage = storage_from_string(url, wrap_exceptions=True, socket_timeout=0.25, socket_connect_timeout=0.25)
    assert isinstance(storage, Storage)
    return MovingWindowRateLimiter(storage)

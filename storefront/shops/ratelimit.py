"""How often a credential may call: a moving window of one minute, counted in memory, or in Redis where there is one.

Memory is bounded by what was let through in the last minute, since only known credentials with a limit are counted.
Without Redis each web process counts for itself.
"""

import math
import time
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import structlog
from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from storefront.kit.refusals import Refusal
from storefront.kit.windows import Windows

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Quota:
    """What a credential has left. `resets_at` is in Unix seconds: when the oldest call counted leaves the window."""

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


class RateLimited(Refusal):
    """The credential has used up its minute; `retry_after` is in seconds."""

    status, code, message = 429, "rate_limited", "Too many requests. Please wait before the next one."

    def __init__(self, retry_after: int) -> None:
        super().__init__()
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


def count_call(credential: str, *, per_minute: int) -> tuple[bool, Quota]:
    """Count one call of this credential: whether it is let through, and what is left."""
    if settings.REDIS_URL:
        try:
            return _count_together(shared_limiter(settings.REDIS_URL), credential, per_minute)
        except StorageError as error:
            # A limit that is only counted in this process is better than a shop that is closed.
            log.warning("rate_limit_storage_away", error=str(error))
    allowed, remaining, resets_at = _own.count(credential, per_minute)
    return allowed, Quota(per_minute, remaining, math.ceil(resets_at))


def retry_after(quota: Quota) -> int:
    """Whole seconds until the next call is let through, at least one."""
    return max(1, quota.resets_at - math.floor(time.time()))


# Not the memory of `limits`, which lets two threads hold two locks for one name.
_own = Windows()


def _count_together(limiter: MovingWindowRateLimiter, credential: str, per_minute: int) -> tuple[bool, Quota]:
    item = RateLimitItemPerMinute(per_minute)
    allowed = limiter.hit(item, credential)
    window = limiter.get_window_stats(item, credential)
    return allowed, Quota(per_minute, max(0, window.remaining), math.ceil(window.reset_time))


def shared_limiter(url: str) -> MovingWindowRateLimiter:
    """Made at the first use, so that a forked worker has connections of its own."""
    # By one thread: `limits` refuses a Redis client that another thread is still importing.
    with _making:
        return _limiter(url)


_making = Lock()


@lru_cache(maxsize=4)
def _limiter(url: str) -> MovingWindowRateLimiter:
    # A Redis that does not answer must not hold up a request for longer than this.
    storage = storage_from_string(url, wrap_exceptions=True, socket_timeout=0.25, socket_connect_timeout=0.25)
    assert isinstance(storage, Storage)
    return MovingWindowRateLimiter(storage)

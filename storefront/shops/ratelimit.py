"""How often a credential may call: a moving window of one minute, counted in memory, or in Redis where there is one.

Memory is bounded by what was let through in the last minute, since only known credentials with a limit are counted.
Without Redis each web process counts for itself.
"""

import math
import time
from dataclasses import dataclass
from functools import lru_cache

import structlog
from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from storefront.kit.refusals import Refusal

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
    try:
        return _count(_shared_limiter(settings.REDIS_URL), credential, per_minute)
    except StorageError as error:
        # A limit that is only counted in this process is better than a shop that is closed.
        log.warning("rate_limit_storage_away", error=str(error))
        return _count(_own_limiter(), credential, per_minute)


def retry_after(quota: Quota) -> int:
    """Whole seconds until the next call is let through, at least one."""
    return max(1, quota.resets_at - math.floor(time.time()))


def _count(limiter: MovingWindowRateLimiter, credential: str, per_minute: int) -> tuple[bool, Quota]:
    item = RateLimitItemPerMinute(per_minute)
    allowed = limiter.hit(item, credential)
    window = limiter.get_window_stats(item, credential)
    return allowed, Quota(per_minute, max(0, window.remaining), math.ceil(window.reset_time))


@lru_cache(maxsize=1)
def _own_limiter() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(MemoryStorage())


@lru_cache(maxsize=4)
def _shared_limiter(url: str | None) -> MovingWindowRateLimiter:
    """Made at the first use, so that a forked worker has connections of its own."""
    if not url:
        return _own_limiter()
    # A Redis that does not answer must not hold up a request for longer than this.
    storage = storage_from_string(url, wrap_exceptions=True, socket_timeout=0.25, socket_connect_timeout=0.25)
    assert isinstance(storage, Storage)
    return MovingWindowRateLimiter(storage)

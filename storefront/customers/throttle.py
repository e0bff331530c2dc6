"""How often somebody may try to sign in, or have a mail sent: by e-mail address and by where they try from.

Counted the same whether a customer has the address or not, so that a refusal tells nothing. Redis counts for all web
processes together where there is one; otherwise each counts for itself.
"""

import math
import time
from functools import lru_cache
from ipaddress import ip_address, ip_network

import structlog
from django.conf import settings
from django.http import HttpRequest
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from storefront.customers.queries import normal_email
from storefront.kit import tokens
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop
from storefront.shops.ratelimit import shared_limiter

log = structlog.get_logger(__name__)

# By what is tried: how often from one place, and how often for one e-mail address.
LIMITS: dict[str, tuple[RateLimitItem, RateLimitItem]] = {
    "sign-in": (RateLimitItemPerMinute(60, 15), RateLimitItemPerMinute(10, 15)),
    "mail": (RateLimitItemPerHour(20), RateLimitItemPerHour(5)),
}


class TooManyTries(Refusal):
    """`retry_after` is in seconds."""

    status, code = 429, "too_many_tries"
    message = "That was tried too often."

    def __init__(self, retry_after: int) -> None:
        minutes = math.ceil(retry_after / 60)
        super().__init__(f"That was tried too often. Please try again in {minutes} minute{'s' * (minutes > 1)}.")
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


def count_try(what: str, *, shop: Shop, email: str, place: str) -> None:
    """Count one try of this kind. Raises TooManyTries."""
    by_place, by_email = LIMITS[what]
    # E-mail addresses are no business of whoever looks into Redis.
    counted = tokens.digest(normal_email(email))
    for limit, name in ((by_place, place), (by_email, counted)):
        wait = _count(limit, f"{what}:{shop.pk}:{name}")
        if wait:
            raise TooManyTries(wait)


def place_of(request: HttpRequest) -> str:
    """Where a request comes from: an IPv4 address, or the IPv6 network that one household has.

    Behind the proxy that `STOREFRONT_HTTPS` says there is, the address that it saw, which it put last.
    """
    seen = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() if settings.HTTPS else ""
    try:
        address = ip_address(seen or request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return "unknown"
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def _count(limit: RateLimitItem, name: str) -> int:
    """Seconds to wait; 0 where the try is let through, and counted."""
    if settings.REDIS_URL:
        try:
            return _wait(shared_limiter(settings.REDIS_URL), limit, name)
        except StorageError as error:
            log.warning("throttle_storage_away", error=str(error))
    return _wait(own_limiter(), limit, name)


def _wait(limiter: MovingWindowRateLimiter, limit: RateLimitItem, name: str) -> int:
    if limiter.hit(limit, name):
        return 0
    return max(1, math.ceil(limiter.get_window_stats(limit, name).reset_time - time.time()))


@lru_cache(maxsize=1)
def own_limiter() -> MovingWindowRateLimiter:
    return MovingWindowRateLimiter(MemoryStorage())

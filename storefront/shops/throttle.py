"""Limits guesses at a person's secrets: a password, a code, a recovery code.

Each try is counted before the secret is checked, so that parallel guesses get no extra tries, and uncounted if the
secret was right. After its free tries a counter is closed for a time that doubles with each further try. While a
counter is closed, secrets are not checked: the right one is refused like a wrong one.

The browser decides which counters apply. A browser that signed in to this account before has a signed cookie
(`known_browsers`) and only a counter of its own. So an attacker elsewhere cannot lock the owner out, and in an office
where one person forgot a password, those who signed in there before can still sign in (OWASP: device cookies). For any
other browser three counters apply: the account at this place, the place over all accounts, and the account over all
places. A place is an IPv4 address or an IPv6 network. Unknown accounts are counted alike, so that a refusal does not
reveal whether an account exists.

With Redis all web processes count together; without it each counts for itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Any

import structlog
from cachetools import LRUCache
from django.conf import settings
from redis import Redis, RedisError

from storefront.kit import tokens
from storefront.kit.refusals import Refusal

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Backoff:
    """Exponential back-off, in seconds. The last of `free_tries` and each later try closes the counter: first for
    `first_wait`, then for twice as long each time, up to `longest_wait`. The counter is reset `forgotten_after` seconds
    after the last try."""

    free_tries: int
    first_wait: int = 60
    longest_wait: int = 3600
    forgotten_after: int = 24 * 3600

    def wait_after(self, tries: int) -> int:
        """Seconds for which the counter is closed after so many tries."""
        return (
            0
            if tries < self.free_tries
            else min(self.first_wait * 2 ** min(tries - self.free_tries, 20), self.longest_wait)
        )


@dataclass(frozen=True)
class Counters:
    browser: Backoff  # a browser that signed in to this account before
    account_at_place: Backoff  # any other browser: this account at this place
    place: Backoff  # this place, whatever the account
    account: Backoff  # this account, wherever from


_PASSWORDS = Counters(
    browser=Backoff(10),
    account_at_place=Backoff(10),
    place=Backoff(60, longest_wait=900, forgotten_after=3600),
    account=Backoff(50, longest_wait=900),
)
# By kind of secret. A code has only a million values and is asked for after the password, so it gets fewer tries.
GUESSES = {
    "staff": _PASSWORDS,
    "shopper": _PASSWORDS,
    "door": _PASSWORDS,
    "code": Counters(
        browser=Backoff(5), account_at_place=Backoff(5), place=Backoff(30, longest_wait=900), account=Backoff(20)
    ),
}


class TooManyTries(Refusal):
    """`retry_after` is in seconds."""

    status, code = 429, "too_many_tries"
    message = "Too many attempts."

    def __init__(self, retry_after: int) -> None:
        minutes = math.ceil(retry_after / 60)
        super().__init__(f"Too many attempts. Please try again in {minutes} minute{'s' * (minutes > 1)}.")
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


@dataclass(frozen=True)
class Counter:
    key: str
    backoff: Backoff
    # A right secret resets a counter of this account; of a counter shared with others, it removes only its own try.
    is_shared: bool = False


@dataclass(frozen=True)
class Try:
    counters: tuple[Counter, ...]

    def succeed(self) -> None:
        """Uncount the try. Call it if and only if the secret was right."""
        _run(lambda store: store.uncount(self.counters))


def begin_try(what: str, *, account: str, place: str, browser: str | None, now: datetime) -> Try:
    """Count one guess at a secret of `account`. Raises TooManyTries while any of its counters is closed.

    `what` is a key of GUESSES; `browser` is the result of `known_browser` for the same account.
    """
    backoffs = GUESSES[what]
    # A digest, since people's names and addresses should not be readable in Redis.
    whose = tokens.digest(account)[:32]
    if browser is not None:
        counters: tuple[Counter, ...] = (Counter(f"{what}:browser:{whose}:{browser}", backoffs.browser),)
    else:
        counters = (
            Counter(f"{what}:here:{whose}:{place}", backoffs.account_at_place),
            Counter(f"{what}:place:{place}", backoffs.place, is_shared=True),
            Counter(f"{what}:account:{whose}", backoffs.account, is_shared=True),
        )
    wait = _run(lambda store: store.count(counters, now.timestamp()))
    if wait > 0:
        raise TooManyTries(math.ceil(wait))
    return Try(counters)


class MemoryStore:
    """Counters of this process: the most recently used ones, so that strangers cannot fill its memory."""

    MAX_KEYS = 50_000

    def __init__(self) -> None:
        self._lock = Lock()
        # Tries, closed until, forgotten at; times in Unix seconds.
        self._kept: LRUCache[str, tuple[int, float, float]] = LRUCache(self.MAX_KEYS)

    def count(self, counters: Sequence[Counter], now: float) -> float:
        """Count a try; returns 0. If a counter is closed, counts nothing and returns the seconds to wait."""
        with self._lock:
            wait = max(self._state(counter.key, now)[1] - now for counter in counters)
            if wait > 0:
                return wait
            for counter in counters:
                tries = self._state(counter.key, now)[0] + 1
                closed = counter.backoff.wait_after(tries)
                self._kept[counter.key] = (
                    tries,
                    now + closed if closed else 0.0,
                    now + counter.backoff.forgotten_after,
                )
        return 0

    def uncount(self, counters: Sequence[Counter]) -> None:
        with self._lock:
            for counter in counters:
                tries, _, forgotten_at = self._kept.pop(counter.key, (0, 0.0, 0.0))
                if counter.is_shared and tries > 1:
                    self._kept[counter.key] = (tries - 1, 0.0, forgotten_at)

    def _state(self, key: str, now: float) -> tuple[int, float, float]:
        found = self._kept.get(key)
        return found if found and found[2] > now else (0, 0.0, 0.0)


class RedisStore:
    """The same in Redis, each operation one script, so that it is atomic."""

    # Times are whole milliseconds. KEYS: the counters; ARGV: now, then free, first, longest, forgotten of each.
    TAKE = """
        local now, wait = tonumber(ARGV[1]), 0
        for _, key in ipairs(KEYS) do
            wait = math.max(wait, tonumber(redis.call('HGET', key, 'closed') or '0') - now)
        end
        if wait > 0 then return wait end
        for at, key in ipairs(KEYS) do
            local free, first = tonumber(ARGV[4 * at - 2]), tonumber(ARGV[4 * at - 1])
            local longest, forgotten = tonumber(ARGV[4 * at]), tonumber(ARGV[4 * at + 1])
            local tries = redis.call('HINCRBY', key, 'tries', 1)
            if tries >= free then
                local closed = math.min(first * 2 ^ math.min(tries - free, 20), longest)
                redis.call('HSET', key, 'closed', string.format('%d', now + closed))
            end
            redis.call('PEXPIRE', key, forgotten)
        end
        return 0
    """
    # ARGV: for each counter, 1 if it is shared, else 0.
    GIVE_BACK = """
        for at, key in ipairs(KEYS) do
            if ARGV[at] == '1' and tonumber(redis.call('HGET', key, 'tries') or '0') > 1 then
                redis.call('HINCRBY', key, 'tries', -1)
                redis.call('HDEL', key, 'closed')
            else
                redis.call('DEL', key)
            end
        end
    """

    def __init__(self, url: str) -> None:
        # A Redis that does not respond delays a sign-in at most this long.
        redis = Redis.from_url(url, socket_timeout=0.25, socket_connect_timeout=0.25)
        self._count_script, self._uncount_script = (
            redis.register_script(self.TAKE),
            redis.register_script(self.GIVE_BACK),
        )

    def count(self, counters: Sequence[Counter], now: float) -> float:
        numbers = [round(now * 1000)]
        for counter in counters:
            backoff = counter.backoff
            numbers += [
                backoff.free_tries,
                backoff.first_wait * 1000,
                backoff.longest_wait * 1000,
                backoff.forgotten_after * 1000,
            ]
        return int(self._count_script(keys=_names(counters), args=numbers)) / 1000

    def uncount(self, counters: Sequence[Counter]) -> None:
        self._uncount_script(keys=_names(counters), args=[int(counter.is_shared) for counter in counters])


def _names(counters: Sequence[Counter]) -> list[str]:
    return [f"storefront:tries:{counter.key}" for counter in counters]


def _run(operation: Callable[[MemoryStore | RedisStore], Any]) -> Any:
    if settings.REDIS_URL:
        try:
            return operation(_redis_store(settings.REDIS_URL))
        except RedisError as error:
            # Counting in this process alone is better than unlimited guesses, or no sign-in for anybody.
            log.warning("throttle_storage_away", error=str(error))
    return operation(memory_store())


@lru_cache(maxsize=4)
def _redis_store(url: str) -> RedisStore:
    return RedisStore(url)


@lru_cache(maxsize=1)
def memory_store() -> MemoryStore:
    return MemoryStore()

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

The counter over all places is the only one that strangers elsewhere can close. Two ways lead round it: a mailed link,
with which a browser becomes known, and for staff the password together with a code (`both`), which is counted by place.

With Redis all web processes count together; without it each counts for itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Any

import orjson
import structlog
from cachetools import LRUCache
from django.conf import settings
from django.utils.translation import gettext_lazy, ngettext
from redis import Redis, RedisError
from redis.client import Pipeline

from storefront.kit import tokens
from storefront.kit.refusals import TryLater

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
    account: Backoff | None  # this account, wherever from; None where no number of places could guess the secret


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
    # A door's password has 70 random bits and everybody shares it.
    "door": replace(_PASSWORDS, account=None),
    # A password and a code in one try.
    "both": Counters(
        browser=Backoff(5), account_at_place=Backoff(5), place=Backoff(30, longest_wait=900), account=None
    ),
    "code": Counters(
        browser=Backoff(5), account_at_place=Backoff(5), place=Backoff(30, longest_wait=900), account=Backoff(20)
    ),
}


class TooManyTries(TryLater):
    """`retry_after` is in seconds."""

    status, code = 429, "too_many_tries"
    message = gettext_lazy("Too many attempts.")

    def __init__(self, retry_after: int) -> None:
        minutes = math.ceil(retry_after / 60)
        text = ngettext(
            "Too many attempts. Please try again in %(count)s minute.",
            "Too many attempts. Please try again in %(count)s minutes.",
            minutes,
        )
        super().__init__(retry_after, text % {"count": minutes})


@dataclass(frozen=True)
class Counter:
    key: str
    backoff: Backoff
    # A right secret resets a counter of this account; of a counter shared with others, it removes only its own try.
    is_shared: bool = False


# How often a counter was tried, and until when it is closed, in Unix seconds.
State = tuple[int, float]
UNTRIED: State = (0, 0.0)
# Maps the states of counters to their new ones, or to None if all stay.
Change = Callable[[list[State]], list[State] | None]


@dataclass(frozen=True)
class Try:
    counters: tuple[Counter, ...]
    now: float

    def succeed(self) -> None:
        """Uncount the try. Call it if and only if the secret was right."""

        def uncount(states: list[State]) -> list[State]:
            pairs = zip(self.counters, states, strict=True)
            return [(tries - 1, 0.0) if each.is_shared and tries > 1 else UNTRIED for each, (tries, _) in pairs]

        _update(self.counters, self.now, uncount)


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
        )
        if backoffs.account is not None:
            counters += (Counter(f"{what}:account:{whose}", backoffs.account, is_shared=True),)
    seconds = now.timestamp()

    def count(states: list[State]) -> list[State] | None:
        if any(closed > seconds for _, closed in states):
            return None
        waits = [counter.backoff.wait_after(tries + 1) for counter, (tries, _) in zip(counters, states, strict=True)]
        return [(tries + 1, seconds + wait if wait else 0.0) for (tries, _), wait in zip(states, waits, strict=True)]

    wait = max(closed - seconds for _, closed in _update(counters, seconds, count))
    if wait > 0:
        raise TooManyTries(math.ceil(wait))
    return Try(counters, seconds)


class MemoryStore:
    """Counters of this process: the most recently used ones, so that strangers cannot fill its memory."""

    MAX_KEYS = 50_000

    def __init__(self) -> None:
        self._lock = Lock()
        # With the time when the counter is reset, in Unix seconds.
        self._kept: LRUCache[str, tuple[State, float]] = LRUCache(self.MAX_KEYS)

    def update(self, counters: Sequence[Counter], now: float, change: Change) -> list[State]:
        """Change the counters' states. Returns those before."""
        with self._lock:
            found = [self._kept.get(counter.key, (UNTRIED, 0.0)) for counter in counters]
            states = [state if reset_at > now else UNTRIED for state, reset_at in found]
            for counter, state in zip(counters, change(states) or [], strict=False):
                self._kept[counter.key] = (state, now + counter.backoff.forgotten_after)
        return states


class RedisStore:
    """The same in Redis, where each change is a transaction that is repeated if another came in between."""

    def __init__(self, url: str) -> None:
        # A Redis that does not respond delays a sign-in at most this long.
        self._redis: Any = Redis.from_url(url, socket_timeout=0.25, socket_connect_timeout=0.25)

    def update(self, counters: Sequence[Counter], now: float, change: Change) -> list[State]:
        names = [f"storefront:guesses:{counter.key}" for counter in counters]

        def run(pipe: Pipeline) -> list[State]:
            states: list[State] = [tuple(orjson.loads(text)) if text else UNTRIED for text in pipe.mget(names)]
            pipe.multi()
            for name, counter, state in zip(names, counters, change(states) or [], strict=False):
                if state == UNTRIED:
                    pipe.delete(name)
                else:
                    pipe.set(name, orjson.dumps(state), ex=counter.backoff.forgotten_after)
            return states

        return self._redis.transaction(run, *names, value_from_callable=True)


def _update(counters: Sequence[Counter], now: float, change: Change) -> list[State]:
    if settings.REDIS_URL:
        try:
            return _redis_store(settings.REDIS_URL).update(counters, now, change)
        except RedisError as error:
            # Counting in this process alone is better than unlimited guesses, or no sign-in for anybody.
            log.warning("throttle_storage_away", error=str(error))
    return memory_store().update(counters, now, change)


@lru_cache(maxsize=4)
def _redis_store(url: str) -> RedisStore:
    return RedisStore(url)


@lru_cache(maxsize=1)
def memory_store() -> MemoryStore:
    return MemoryStore()

"""Limits of fetching pictures, what is tried again and when. Durations named `..._SECONDS` are seconds, others
timedeltas."""

import re
from datetime import timedelta

# For one picture with its redirects: to connect, between two pieces of an answer, and in all.
CONNECT_SECONDS, READ_SECONDS, TOTAL_SECONDS = 5.0, 10.0, 60.0
# Longer than the longest fetch, so that no two workers fetch one picture at the same time.
LEASE = timedelta(seconds=90)
MAX_REDIRECTS = 5
# Pictures that one worker fetches at the same time, from all hosts and from one.
MAX_AT_ONCE, MAX_PER_HOST = 16, 4
# For which a place at a host stays empty after each fetch.
PAUSE_SECONDS = 0.1
# From each failed attempt to the next.
WAITS = [
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(hours=24),
]
MAX_ATTEMPTS = len(WAITS) + 1
# The longest `Retry-After` that is honoured, and the pause of a host that asks for one without saying how long.
MAX_RETRY_AFTER, DEFAULT_RETRY_AFTER = timedelta(hours=24), timedelta(seconds=30)
# The host is overloaded, or wants fewer calls: no picture of it is fetched until then.
BUSY = (429, 503)
# Statuses after which another attempt can succeed, with all from 500 on.
TEMPORARY = (408, 425, 429)
# How the URLs begin that have a host (`host_of`).
_WITH_HOST = re.compile(r"https?://[^/?#]", re.ASCII | re.IGNORECASE)


def next_wait(attempts: int, retry_after: timedelta | None = None) -> timedelta | None:
    """The wait after this many failed attempts, at least `retry_after`; None if no attempt follows."""
    if attempts >= MAX_ATTEMPTS:
        return None
    return max(WAITS[attempts - 1], min(retry_after or timedelta(0), MAX_RETRY_AFTER))


def is_temporary(status: int) -> bool:
    """Whether another attempt can succeed after this status of an answer."""
    return status in TEMPORARY or status >= 500


def is_fetched(url: str, own: str) -> bool:
    """Whether a picture with this address is fetched: it is an http or https URL with a host, and none of the shop's
    own files, whose URLs begin with `own`."""
    return _WITH_HOST.match(url) is not None and not url.startswith(own)


def host_of(url: str) -> str | None:
    """The host and port of an http or https URL, in lowercase; None for any other text. For a million URLs, so it
    checks nothing else: a wrong URL fails when it is fetched."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in ("http", "https"):
        return None
    for end in "/?#":
        rest = rest.partition(end)[0]
    return rest.lower()[:255] or None

"""Limits of fetching pictures, and the schedule of retries. Durations named `..._SECONDS` are seconds, others
timedeltas."""

import re
from datetime import timedelta

# Time limits of one download: to connect, between two pieces of an answer, and in all, with redirects.
CONNECT_SECONDS, READ_SECONDS, TOTAL_SECONDS = 5.0, 10.0, 60.0
# Longer than the longest fetch, so that no two workers fetch one picture at the same time.
LEASE = timedelta(seconds=90)
MAX_REDIRECTS = 5
# Pictures that one worker fetches at the same time, from all hosts and from one.
MAX_AT_ONCE, MAX_PER_HOST = 16, 4
# Pause after each fetch before the host gets another call in its place.
PAUSE_SECONDS = 0.1
# Waits from each failed attempt to the next.
WAITS = [
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(hours=24),
]
MAX_ATTEMPTS = len(WAITS) + 1
# The longest `Retry-After` that is honoured, and the pause after an answer 429 or 503 without that header.
MAX_RETRY_AFTER, DEFAULT_RETRY_AFTER = timedelta(hours=24), timedelta(seconds=30)
# Statuses of an overloaded host: no picture is fetched from it until the pause is over.
BUSY = (429, 503)
# Statuses after which another attempt can succeed, besides those from 500 on.
TEMPORARY = (408, 425, 429)
# The beginning of a URL with a host (`host_of`).
_WITH_HOST = re.compile(r"https?://[^/?#]", re.ASCII | re.IGNORECASE)


def next_wait(attempts: int, retry_after: timedelta | None = None) -> timedelta | None:
    """The wait after this many failed attempts, at least `retry_after`; None if no attempt follows."""
    if attempts >= MAX_ATTEMPTS:
        return None
    return max(WAITS[attempts - 1], min(retry_after or timedelta(0), MAX_RETRY_AFTER))


def is_temporary(status: int) -> bool:
    """Returns True if another attempt can succeed after an answer with this status."""
    return status in TEMPORARY or status >= 500


def is_fetched(url: str, own: str) -> bool:
    """Returns True if a picture with this address is fetched: it is an http or https URL with a host, and not one of
    the shop's own files, whose URLs begin with `own`."""
    return _WITH_HOST.match(url) is not None and not url.startswith(own)


def host_of(url: str) -> str | None:
    """The host and port of an http or https URL, in lowercase; None for any other text. Checks nothing else, since
    imports call it for a million URLs; a wrong URL fails when it is fetched."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in ("http", "https"):
        return None
    for end in "/?#":
        rest = rest.partition(end)[0]
    return rest.lower()[:255] or None

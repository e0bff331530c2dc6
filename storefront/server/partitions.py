"""The tables that are divided by time (`kit/time_partitions.py`), and the making of their partitions."""

from datetime import datetime

from storefront.audit.queries import ENTRIES
from storefront.sync.log import CHANGES
from storefront.webhooks.jobs import ATTEMPTS, DELIVERIES, EVENTS

DIVIDED = (EVENTS, DELIVERIES, ATTEMPTS, ENTRIES, CHANGES)


def add_partitions(*, now: datetime, limit: int = 1) -> int:
    """Make the missing partitions of the current period and of those ahead. Returns 0: there is no next batch."""
    for each in DIVIDED:
        each.add_missing(now=now)
    return 0

"""The age of the change feed's horizon: the oldest running transaction, before which the feed of all shops ends."""

import time


class Horizon:
    """Remembers since when the same transaction has been the oldest, since only a superuser and the members of
    pg_read_all_stats see when other roles' transactions began."""

    def __init__(self) -> None:
        self.oldest: int | None = None
        self.since = 0.0

    def age(self, running: tuple[int, float] | None) -> float:
        """Seconds for which this transaction, with its age if that can be seen, has held up the feed; 0 for None."""
        if running is None:
            self.oldest = None
            return 0.0
        oldest, age = running
        if oldest != self.oldest:
            self.oldest, self.since = oldest, time.monotonic()
        return max(age, time.monotonic() - self.since)

"""The queue of the threads of this process that write to one SQLite database.

SQLite itself has no queue: each connection that finds the database locked sleeps and tries again, ever longer, and with
many writers some of them never come first. So threads take turns here, in the order in which they asked, and only one
of each process competes for SQLite's lock.
"""

from collections import deque
from functools import cache
from threading import Lock


class WriterQueue:
    """A lock that is handed to waiting threads in the order of their arrival."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._is_held = False
        self._waiting: deque[Lock] = deque()

    def acquire(self, timeout: float) -> bool:
        """Wait for the turn for at most `timeout` seconds. Returns False if it did not come."""
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return True
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        if turn.acquire(timeout=timeout):
            return True
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return False
        # The turn came just after the time was up.
        return True

    def release(self) -> None:
        """Hand the lock to the thread that has waited longest."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False


@cache
def queue_of(name: str) -> WriterQueue:
    """The queue of the database with this file name."""
    return WriterQueue()

"""Moving windows of one minute, counted in memory and exact in threads."""

import time
from collections import OrderedDict, deque
from threading import Lock

MINUTE = 60.0


class Windows:
    """What each name did in the last minute. Holds no more than was let through in it, and no name without a call."""

    def __init__(self) -> None:
        # The name that called last stands last; of its calls, in Unix seconds, the newest.
        self._calls: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def count(self, name: str, limit: int) -> tuple[bool, int, float]:
        """Whether one more call is within the limit, and is counted then; how many are left; and when, in Unix
        seconds, the oldest call leaves that stands in the way of another."""
        with self._lock:
            now = time.time()
            calls = self._calls.setdefault(name, deque())
            # What is to come was counted before the clock was put back.
            while calls and not now - MINUTE < calls[0] <= now:
                calls.popleft()
            allowed = len(calls) < limit
            if allowed:
                calls.append(now)
                self._calls.move_to_end(name)
            left = max(0, limit - len(calls))
            # There are more than the limit where that was lowered meanwhile.
            oldest = calls[max(0, len(calls) - limit)] if calls and limit else now
            self._forget(now - MINUTE)
            return allowed, left, oldest + MINUTE

    def _forget(self, before: float) -> None:
        """Drop names that have not called since."""
        while self._calls:
            name, calls = next(iter(self._calls.items()))
            if calls and calls[-1] > before:
                return
            del self._calls[name]

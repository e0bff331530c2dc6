"""Sliding windows: calls by name, counted in memory, exact also across threads (R-LIM-9)."""

import time
from collections import OrderedDict, deque
from threading import Lock

MINUTE = 60.0


class Windows:
    """The calls of each name in the last `length` seconds. Stores only calls that were allowed, no name without a call,
    and at most `most_names` names: beyond that, the names that called longest ago are dropped."""

    def __init__(self, length: float = MINUTE, *, most_names: int | None = None) -> None:
        self.length, self.most_names = length, most_names
        # Names in the order of their last call; times of calls in Unix seconds, the newest last.
        self._calls: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def count(self, name: str, limit: int, *, peek: bool = False) -> tuple[bool, int, float]:
        """Count a call if it is within the limit. Returns True if it is allowed, the number of calls left, and the
        time, in Unix seconds, when the call that blocks the next one leaves the window. With `peek`, nothing is
        counted."""
        with self._lock:
            now = time.time()
            calls = self._calls.setdefault(name, deque())
            # Calls in the future were counted before the clock was set back.
            while calls and not now - self.length < calls[0] <= now:
                calls.popleft()
            allowed = len(calls) < limit
            if allowed and not peek:
                calls.append(now)
                self._calls.move_to_end(name)
            left = max(0, limit - len(calls))
            # There can be more calls than the limit, if the limit was lowered meanwhile.
            oldest = calls[max(0, len(calls) - limit)] if calls and limit else now
            if not calls:
                del self._calls[name]
            self._forget(now - self.length)
            return allowed, left, oldest + self.length

    def _forget(self, before: float) -> None:
        """Drop names whose last call was before this time, and names beyond `most_names`."""
        while self._calls:
            name, calls = next(iter(self._calls.items()))
            is_beyond = self.most_names is not None and len(self._calls) > self.most_names
            if calls and calls[-1] > before and not is_beyond:
                return
            del self._calls[name]

"""A least-recently-used cache that is bounded in bytes."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    size: int


T = TypeVar("T", bound=Sized)


class MemoryCache(Generic[T]):
    """Holds at most `capacity` bytes of values, by their `size`, and evicts the least recently used. Thread-safe."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._remove(key)
            if value.size <= self.capacity:
                self._entries[key] = value
                self._grow(value.size)

    def grow(self, key: Hashable, value: T, by: int) -> None:
        """Add `by` bytes to the value's `size`, and to the total unless the value was evicted meanwhile."""
        with self._lock:
            value.size += by
            if self._entries.get(key) is value:
                self._grow(by)

    def drop(self, key: Hashable, value: T) -> None:
        """Remove the value, unless the key holds another one by now."""
        with self._lock:
            if self._entries.get(key) is value:
                self._remove(key)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.size = 0

    def _remove(self, key: Hashable) -> None:
        before = self._entries.pop(key, None)
        if before is not None:
            self.size -= before.size

    def _grow(self, by: int) -> None:
        self.size += by
        while self.size > self.capacity:
            _, oldest = self._entries.popitem(last=False)
            self.size -= oldest.size

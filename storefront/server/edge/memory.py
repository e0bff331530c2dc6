from collections.abc import Hashable
from operator import attrgetter
from threading import RLock
from typing import Generic, Protocol, TypeVar

from cachetools import LRUCache


class Sized(Protocol):
    size: int


T = TypeVar("T", bound=Sized)


class MemoryCache(Generic[T]):
    """Holds at most `capacity` bytes of values, by their `size`, and evicts the least recently used. Thread-safe."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._entries: LRUCache[Hashable, T] = LRUCache(capacity, getsizeof=attrgetter("size"))
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        return int(self._entries.currsize)

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            return self._entries.get(key)

    def put(self, key: Hashable, value: T) -> None:
        """Hold the value instead of an earlier one of this key, unless it is larger than the capacity."""
        with self._lock:
            self._entries.pop(key, None)
            if value.size <= self.capacity:
                self._entries[key] = value

    def grow(self, key: Hashable, value: T, by: int) -> None:
        """Add `by` bytes to the value's `size`, and to the total unless the value was evicted meanwhile."""
        with self._lock:
            is_held = self._entries.get(key) is value
            value.size += by
            if is_held:
                self.put(key, value)

    def drop(self, key: Hashable, value: T) -> None:
        """Remove the value, unless the key holds another one by now."""
        with self._lock:
            if self._entries.get(key) is value:
                del self._entries[key]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

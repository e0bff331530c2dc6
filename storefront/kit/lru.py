from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")


class LruCache(Generic[Value]):
    """At most `max_entries` values by key. Drops the least recently used one. Safe for threads."""

    def __init__(self, max_entries: int) -> None:
        self._values: LRUCache[Hashable, Value] = LRUCache(max_entries)
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value

    def get_current(self, key: Hashable, is_current: Callable[[Value], bool], make: Callable[[], Value]) -> Value:
        """Return the value if it is still current; else make a new one, which replaces it."""
        value = self.get(key)
        if value is None or not is_current(value):
            value = make()
            self.put(key, value)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()

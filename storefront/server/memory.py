"""A bounded memory: what was used least recently goes first."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    size: int


T = TypeVar("T", bound=Sized)


class Memory(Generic[T]):
    """At most `capacity` bytes of values, each as large as its `size` says. Safe in threads."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self.evictions = 0
        self._held: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            value = self._held.get(key)
            if value is not None:
                self._held.move_to_end(key)
            return value

    def put(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._remove(key)
            if value.size <= self.capacity:
                self._held[key] = value
                self._grow(value.size)

    def grow(self, key: Hashable, value: T, by: int) -> None:
        """The value has become larger; its `size` is set here, since it may have been evicted meanwhile."""
        with self._lock:
            value.size += by
            if self._held.get(key) is value:
                self._grow(by)

    def drop(self, key: Hashable, value: T) -> None:
        """Forget the value, unless another has taken its place."""
        with self._lock:
            if self._held.get(key) is value:
                self._remove(key)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self.size = 0

    def _remove(self, key: Hashable) -> None:
        before = self._held.pop(key, None)
        if before is not None:
            self.size -= before.size

    def _grow(self, by: int) -> None:
        self.size += by
        while self.size > self.capacity:
            _, oldest = self._held.popitem(last=False)
            self.size -= oldest.size
            self.evictions += 1

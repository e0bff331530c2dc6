"""What this process remembers between two reads of a product list, bounded, and never past a change of the list.

Each thing is remembered under the list's version (`models.ListingTotal`) and the time span in which no publication
date falls; so it is as true as if it were read anew.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a list is as of one version: moments are as the database compares them, `until` None without end."""

    version: int
    since: Any
    until: Any

    def holds(self, moment: Any) -> bool:
        return self.since <= moment and (self.until is None or moment < self.until)

    def covers(self, later: "Standing") -> bool:
        """Whether the list is still the same where that one begins."""
        return self.version == later.version and self.holds(later.since)


class Remembered(Generic[Value]):
    """The most recently used values by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def renew(self, key: Hashable, holds: Callable[[Value], bool], make: Callable[[], Value]) -> Value:
        """The value if it still holds, else a new one in its place."""
        value = self.get(key)
        if value is None or not holds(value):
            value = make()
            self.put(key, value)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


@dataclass(slots=True)
class Anchors:
    """Rows of one ordered list whose place is known, so that a deep page is read from the nearest one on.

    A place is how many rows stand up to and including the row that `keys` sorts.
    """

    standing: Standing
    places: list[int] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    far_reads: int = 0
    _lock: Lock = field(default_factory=Lock)

    # About 300 bytes each.
    MOST = 2048

    def before(self, place: int) -> tuple[int, Key | None]:
        """The nearest known row at or before this place; (0, None) is the list's beginning."""
        with self._lock:
            at = bisect_right(self.places, place)
            return (self.places[at - 1], self.keys[at - 1]) if at else (0, None)

    def add(self, place: int, key: Key) -> None:
        with self._lock:
            at = bisect_right(self.places, place)
            if at and self.places[at - 1] == place:
                return
            self.places.insert(at, place)
            self.keys.insert(at, key)
            if len(self.places) > self.MOST:
                # Every second one stays: what is far behind is known less closely, but known.
                del self.places[::2], self.keys[::2]

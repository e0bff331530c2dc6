"""What this process caches between two reads of a product list: bounded, and never used after the list changed.

Each entry is stored with the list's version (`models.ListingTotal`) and the time span in which no publication date
falls. While both match, the entry equals what the database would return.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Validity:
    """The version of a list and the time span in which its dates change nothing.

    Moments are as the database compares them. `since` belongs to the span, `until` does not; None: no end. The span is
    empty while the worker has yet to write what a date has changed.
    """

    version: int
    since: Any
    until: Any

    def includes(self, moment: Any) -> bool:
        return self.since <= moment and (self.until is None or moment < self.until)

    def covers(self, later: "Validity") -> bool:
        """Whether the list has not changed up to the start of `later`."""
        return self.version == later.version and self.includes(later.since)


@dataclass(slots=True)
class Anchors:
    """Rows of one ordered list whose position is known, so that a deep page is read from the nearest one on.

    A position is the number of rows up to and including the row. `keys` are the rows' sort columns.
    """

    validity: Validity
    positions: list[int] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    far_reads: int = 0
    _lock: Lock = field(default_factory=Lock)

    # About 300 bytes each.
    MAX_PLACES = 2048

    def before(self, position: int) -> tuple[int, Key | None]:
        """The nearest known row at or before this position; (0, None) is the start of the list."""
        with self._lock:
            at = bisect_right(self.positions, position)
            return (self.positions[at - 1], self.keys[at - 1]) if at else (0, None)

    def add(self, position: int, key: Key) -> None:
        with self._lock:
            at = bisect_right(self.positions, position)
            if at and self.positions[at - 1] == position:
                return
            self.positions.insert(at, position)
            self.keys.insert(at, key)
            if len(self.positions) > self.MAX_PLACES:
                # Every second one is dropped, so that the whole list stays covered, with larger gaps.
                del self.positions[::2], self.keys[::2]

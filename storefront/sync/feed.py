"""One answer of a run through a list (R-SYNC-1 to R-SYNC-8).

A run has two parts. The first pass reads all rows by their key. From then on the client reads what has changed since
that pass began: products that a date has shown, hidden or changed, then the log of changes. A change only names the
object that was written; the answer has the object as it is now, or names it in `deleted` if the list no longer has it.

Nothing is missed while others write: the end of the log is read before everything else, so a row that is written later
is in a later answer (`log.horizon`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from storefront.kit.clock import timestamp
from storefront.kit.ids import MAX_ID
from storefront.shops.models import Shop
from storefront.sync import log
from storefront.sync.cursors import RETENTION, Cursor, CursorExpired, as_microseconds, as_moment, as_seconds, decode
from storefront.sync.log import Changed


@dataclass(frozen=True)
class Deletion:
    """A record that a list no longer has, and when it was written last."""

    id: int | str
    at: datetime

    @property
    def record(self) -> dict[str, Any]:
        return {"id": self.id, "at": timestamp(self.at)}


@dataclass(frozen=True)
class Answer:
    """Records as JSON, deletions, and the cursor for the next answer. Records and deletions are both empty only if the
    client has read everything."""

    records_json: Sequence[str]
    deleted: Sequence[Deletion]
    next: str


@dataclass(frozen=True)
class Source(ABC):
    """A list of a shop that clients keep a copy of. `members` are those of its records; None: those of the list.
    `since` leaves out of the first pass what was not changed since then.

    `name` identifies the list, `kind` is the kind of its changes. `visible` is an SQL condition on a change `c`, with
    `%(shop)s` and `%(now)s`: whether clients may see it.
    """

    shop: Shop
    members: frozenset[str] | None = None
    since: datetime | None = None

    name: ClassVar[str]
    kind: ClassVar[str]
    visible: ClassVar[str] = "true"

    @abstractmethod
    def scan(self, after: int, count: int, now: datetime) -> Sequence[tuple[int, Sequence[str]]]:
        """The next rows after this key, in the order of their keys: at most `count`, each with its key and its records
        as JSON. Fewer rows are the last ones."""

    def dated(self, since: datetime, last: int, now: datetime, count: int) -> Sequence[tuple[datetime, int]]:
        """Objects that a date has shown, hidden or changed without a write, from (`since`, `last`) to now: (date, id),
        in this order."""
        return []

    @abstractmethod
    def current(self, changed: Mapping[int, Changed], now: datetime) -> tuple[Sequence[str], Sequence[Deletion]]:
        """The records of these objects as JSON, and deletions for objects that the list does not have."""

    @abstractmethod
    def deletions(self, since: datetime, now: datetime, *, start: int, count: int) -> tuple[Sequence[Deletion], int]:
        """`count` deletions since then, from `start` on; and how many there are."""


def read(source: Source, after: str, *, count: int, now: datetime) -> Answer:
    """The next answer of a run. An empty `after` begins one. Raises InvalidCursor and CursorExpired."""
    cursor = decode(after, source.shop, source.name, now=now) if after else None
    horizon = log.horizon(source.shop)
    cursor = cursor or first_cursor(horizon, now)
    end = horizon.read_to((cursor.xact, cursor.change), cursor.generation)
    if end is None:
        raise CursorExpired
    # Never before the moment of the last answer: another machine's clock may be ahead.
    now = max(now, as_moment(cursor.moment))
    while cursor.is_scanning:
        rows = source.scan(cursor.scanned, count, now)
        cursor = replace(cursor, scanned=rows[-1][0] if len(rows) == count else -1)
        if texts := [text for _, texts in rows for text in texts]:
            return Answer(texts, [], cursor.encode(source.shop, source.name))
    changed, cursor = _changed(source, cursor, end, count, now)
    records, deleted = source.current(changed, now) if changed else ([], [])
    return Answer(records, deleted, cursor.encode(source.shop, source.name))


def first_cursor(end: log.Horizon, now: datetime) -> Cursor:
    """The cursor of a run that begins now."""
    moment = as_microseconds(now)
    return Cursor(end.generation, as_seconds(now), *end.position, moment=moment, dated=MAX_ID, scanned=0)


def _changed(
    source: Source, cursor: Cursor, end: log.Position, count: int, now: datetime
) -> tuple[dict[int, Changed], Cursor]:
    """The next objects to show, by id: those that a date has shown, hidden or changed, else those of the log."""
    dates = source.dated(as_moment(cursor.moment), cursor.dated, now, count)
    if dates:
        return {id: Changed(at, {None}) for at, id in dates}, cursor.at(*dates[-1])
    cursor = cursor.at(now) if now > as_moment(cursor.moment) else cursor
    found, reached = log.changes_between(
        source.shop,
        source.kind,
        (cursor.xact, cursor.change),
        end,
        count=count,
        visible=source.visible,
        now=now,
    )
    # In the middle of the log, the position keeps its age.
    as_of = as_seconds(now) if reached == end else cursor.as_of
    return found, replace(cursor, as_of=as_of, xact=reached[0], change=reached[1])


def deleted_since(
    source: Source, since: datetime, *, start: int, count: int, now: datetime
) -> tuple[Sequence[Deletion] | None, int]:
    """`count` deletions since then, from `start` on, and how many there are. None if the log no longer reaches back
    that far (R-SYNC-12)."""
    if since < now - RETENTION:
        return None, 0
    return source.deletions(since, now, start=start, count=count)

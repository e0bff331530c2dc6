# ruff: noqa: S608, the statements consist of names of tables and columns.
"""Tables that PostgreSQL keeps in partitions by time, so that old rows go with their partition instead of one by one
(docs/decisions/0014-partitions.md). On SQLite, such a table is one table.

The partitions of `table` are `table_before`, with all rows from before the first period; one for each period, named by
its first day; and `table_default`, which takes rows that no other takes, so that no write fails for lack of one.
`table_default` is also the pattern of new partitions: columns, indexes, constraints, room on pages.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import structlog
from django.db import IntegrityError, OperationalError, ProgrammingError, connection, transaction

from storefront.kit.dialect import IS_POSTGRESQL

log = structlog.get_logger(__name__)

# How long writers can have to wait behind a change of partitions; its tries, and the seconds between them.
MAX_LOCK_WAIT, MAX_TRIES, PAUSE_SECONDS = "50ms", 20, 0.1
# Later periods that have a partition in advance.
AHEAD = 2
# Rows that are moved from `table_default` into the partition that is made for them. More stay until they are old.
MAX_MOVED = 10_000
# Key of the advisory lock of whoever changes partitions.
PARTITION_LOCK = 7_160_232
# SQLSTATEs after which a change is tried again: no lock in time, deadlock.
RETRIED = ("55P03", "40P01")
_BOUNDS = re.compile(r"FROM \((?:MINVALUE|'([^']+)')\) TO \('([^']+)'\)")
_PARTITIONS = """
    SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = %s::regclass
"""


class Partition(NamedTuple):
    """Rows from `begin` on and before `end`. `table_before` has no begin, `table_default` has neither."""

    name: str
    begin: datetime | None
    end: datetime | None

    def includes(self, moment: datetime) -> bool:
        return self.end is not None and moment < self.end and (self.begin is None or moment >= self.begin)


First = Callable[[Partition], None]
Kept = Callable[[Any, str], bool]


@dataclass(frozen=True)
class ByTime:
    """A table that is divided by this column, a time that never changes. `interval` is `week` or `month`."""

    table: str
    column: str
    interval: str

    @property
    def default(self) -> str:
        return f"{self.table}_default"

    def start(self, moment: datetime) -> datetime:
        """The beginning of the period that includes this moment."""
        day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return day.replace(day=1) if self.interval == "month" else day - timedelta(days=day.weekday())

    def periods(self, now: datetime) -> list[tuple[datetime, datetime]]:
        """The current period and AHEAD later ones, each with its beginning and end."""
        starts = [self.start(now)]
        for _ in range(AHEAD + 1):
            starts.append(self.start(starts[-1] + timedelta(days=32 if self.interval == "month" else 7)))
        return list(pairwise(starts))

    def partitions(self) -> list[Partition]:
        """The existing partitions, oldest first and `table_default` last. None on SQLite."""
        if not IS_POSTGRESQL:
            return []
        with connection.cursor() as cursor:
            cursor.execute(_PARTITIONS, [self.table])
            # One that is dropped at the moment has no bounds any more.
            found = [Partition(name, *_bounds(text)) for name, text in cursor.fetchall() if text is not None]
        return sorted(found, key=lambda each: (each.end is None, each.end))

    def undivided(self) -> list[str]:
        """The tables whose rows have no period in common, and are deleted one by one: on SQLite the table itself."""
        return [each.name for each in self.partitions() if each.begin is None] or [self.table]

    def oldest(self, *, before: datetime, limit: int) -> list[int]:
        """Ids of undivided rows from before this time, among the `limit` first of each table. Ids grow with time, so
        this needs no index on the time."""
        given = [limit, connection.ops.adapt_datetimefield_value(before)]
        ids: list[int] = []
        for table in self.undivided():
            with connection.cursor() as cursor:
                first = f"SELECT id, {self.column} AS at FROM {table} ORDER BY id LIMIT %s"
                cursor.execute(f"SELECT id FROM ({first}) first WHERE at < %s", given)
                ids += [pk for (pk,) in cursor.fetchall()]
        return ids[:limit]

    def has_unfitting(self) -> bool:
        """Returns True if `table_default` has rows for which there should have been a partition: not those that are
        older than all, as an imported shop brings them."""
        first = next((each.begin for each in self.partitions() if each.begin), None)
        if first is None:
            return False
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {self.default} WHERE {self.column} >= %s)", [first])
            return bool(cursor.fetchone()[0])

    def add_missing(self, *, now: datetime) -> int:
        """Make the partitions of the current period and of those ahead, where they are missing. Returns how many."""
        existing, made = self.partitions(), 0
        if not existing:
            return 0
        for begin, end in self.periods(now):
            if not any(each.includes(begin) for each in existing):
                made += bool(_change(self.table, partial(self._add, begin, end)))
        return made

    def _add(self, begin: datetime, end: datetime, cursor: Any) -> bool:
        if any(each.includes(begin) for each in self.partitions()):
            return False
        name = f"{self.table}_{begin:%Y%m%d}"
        rows = f"{self.default} WHERE {self.column} >= %s AND {self.column} < %s"
        cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT {MAX_MOVED + 1}) found", [begin, end])
        (unfitting,) = cursor.fetchone()
        if unfitting and _is_moving(cursor):
            return False
        if unfitting > MAX_MOVED:
            log.warning("partition_not_made", partition=name, reason=f"more than {MAX_MOVED} rows are to be moved")
            return False
        cursor.execute(
            "SELECT array_to_string(reloptions, ', '), relreplident FROM pg_class WHERE oid = %s::regclass",
            [self.default],
        )
        options, identity = cursor.fetchone()
        cursor.execute(
            f"CREATE TABLE {name} (LIKE {self.default} INCLUDING ALL)" + f" WITH ({options})" * bool(options)
        )
        if identity == "f":
            # A shop moves to another pod at the moment, which needs whole rows in the log.
            cursor.execute(f"ALTER TABLE {name} REPLICA IDENTITY FULL")
        if unfitting:
            # Without triggers, of which those of the audit log refuse to delete an entry.
            cursor.execute(f"ALTER TABLE {self.default} DISABLE TRIGGER USER")
            moved = f"WITH moved AS (DELETE FROM {rows} RETURNING *) INSERT INTO {name} SELECT * FROM moved"
            cursor.execute(moved, [begin, end])
            cursor.execute(f"ALTER TABLE {self.default} ENABLE TRIGGER USER")
        cursor.execute(
            f"ALTER TABLE {self.table} ATTACH PARTITION {name} FOR VALUES FROM ('{begin:%Y-%m-%d}+00')"
            f" TO ('{end:%Y-%m-%d}+00')"
        )
        return True

    def drop_ended(
        self, *, now: datetime, age: timedelta, first: First = lambda partition: None, keeps: Kept = lambda *_: False
    ) -> int:
        """Drop the partitions whose rows are all older than this, by `now` and by the database's clock: one that jumps
        ahead must not empty the table. Returns how many.

        `first` deletes rows elsewhere that belong to the partition's; `keeps` finds rows in it that must stay, and then
        it does. So does one that cannot be locked in time; nobody waits for longer than MAX_LOCK_WAIT at a time.
        """
        ended = [each for each in self.partitions() if each.end is not None and each.end <= now - age]
        if not ended:
            return 0
        with connection.cursor() as cursor:
            if _is_moving(cursor):
                return 0
            cursor.execute("SELECT now()")
            end = min(now, cursor.fetchone()[0]) - age
        dropped = 0
        for partition in ended:
            if partition.end and partition.end <= end:
                try:
                    first(partition)
                    dropped += self._drop(partition, keeps)
                except ProgrammingError:
                    # Another process has dropped it meanwhile.
                    if partition in self.partitions():
                        raise
        return dropped

    def _drop(self, partition: Partition, keeps: Kept) -> bool:

        def drop(cursor: Any) -> bool:
            if _is_moving(cursor) or keeps(cursor, partition.name):
                return False
            # The parent first, as everybody locks them. Its rows do not change between the look at them and the end.
            cursor.execute(f"LOCK TABLE ONLY {self.table} IN ACCESS EXCLUSIVE MODE")
            cursor.execute(f"LOCK TABLE {partition.name} IN ACCESS EXCLUSIVE MODE")
            if keeps(cursor, partition.name):
                return False
            cursor.execute(f"DROP TABLE {partition.name}")
            return True

        if dropped := _change(self.table, drop):
            log.info("partition_dropped", partition=partition.name)
        return dropped


def _change(table: str, change: Callable[[Any], bool]) -> bool:
    """Run this change of the table's partitions in a transaction, if no other process changes partitions now."""
    for _ in range(MAX_TRIES):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [PARTITION_LOCK])
                if not cursor.fetchone()[0]:
                    return False
                cursor.execute(f"SET LOCAL lock_timeout = '{MAX_LOCK_WAIT}'")
                return change(cursor)
        except IntegrityError:
            # A row that belongs into the new partition came into `table_default` meanwhile.
            pass
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) not in RETRIED:
                raise
        time.sleep(PAUSE_SECONDS)
    log.warning("partitions_busy", table=table)
    return False


def _is_moving(cursor: Any) -> bool:
    """Returns True while a shop moves from or to this pod: replication brings rows, and nothing of what is done to a
    partition as a whole, so both sides would differ for good."""
    cursor.execute("SELECT to_regclass('pods_shopmove') IS NOT NULL")
    if not cursor.fetchone()[0]:
        return False
    cursor.execute("SELECT EXISTS (SELECT 1 FROM pods_shopmove WHERE step NOT IN ('asked', 'shelved'))")
    return bool(cursor.fetchone()[0])


def _bounds(text: str) -> tuple[datetime | None, datetime | None]:
    found = _BOUNDS.search(text)
    begin, end = (datetime.fromisoformat(text) if text else None for text in (found.groups() if found else ("", "")))
    return begin, end

# ruff: noqa: S608, the statements consist of conditions of this package and of sources; values are parameters.
"""Reads of the log of changes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F

from storefront.kit.sql import fetch
from storefront.kit.time_partitions import ByTime
from storefront.shops.models import Shop
from storefront.sync.cursors import RETENTION
from storefront.sync.dialect import dialect
from storefront.sync.models import Change, Log

CHANGES = ByTime("sync_change", "at", "week")
# Changes that one answer reads at most. Many of them can be of one object, which is shown once.
MAX_CHANGES = 1000

Position = tuple[int, int]


@dataclass
class Changed:
    """An object with changes: the time of the latest, and which variants were changed or deleted, None for its own
    row or a new variant."""

    at: datetime
    variants: set[int | None] = field(default_factory=set)


class Horizon(NamedTuple):
    """The `position` up to which the log is complete: no transaction that is still running can add a change before it;
    the `generation` of the shop's cursors; and the `newest` position, before which all earlier horizons were."""

    position: Position
    generation: int
    newest: Position

    def read_to(self, after: Position, generation: int) -> Position | None:
        """The position up to which a reader that stands at `after` can read; None if a new generation of the log has
        begun since then.

        A horizon can be before an earlier one, if it is no longer certain that a transaction, which just ended, belongs
        to another database. The reader then stays where it is."""
        if generation != self.generation or after > self.newest:
            return None
        return max(self.position, after)


def horizon(shop: Shop) -> Horizon:
    generation = "COALESCE((SELECT generation FROM sync_log WHERE shop_id = %(shop)s), 0)"
    statement = f"SELECT {dialect.HORIZON}, {generation}"
    ((xact, id, newest_xact, newest_id, number),) = fetch(connection, statement, {"shop": shop.pk})
    return Horizon((xact, id), number, (newest_xact, newest_id))


@dataclass(frozen=True, slots=True)
class Unread:
    """Changes by their position, each with its object's id, and the position up to which the log is complete."""

    objects: dict[Position, int]
    complete_to: Position


def unread(
    shop: Shop, kind: str, after: Position, generation: int, known: Collection[Position], *, count: int
) -> Unread | None:
    """The changes after this position but the `known` ones: all that have been committed, those after the horizon too,
    which are known from then on. None if they are more than `count`, or if a new generation of the log has begun."""
    end = settled(shop).read_to(after, generation)
    if end is None:
        return None
    rows = fetch(
        connection,
        "SELECT c.xact, c.id, c.object_id FROM sync_change c"
        f" WHERE c.shop_id = %(shop)s AND c.kind = %(kind)s AND {dialect.AFTER}"
        " ORDER BY c.xact, c.id LIMIT %(count)s",
        {"shop": shop.pk, "kind": kind, "xact": after[0], "id": after[1], "count": count + 1},
    )
    if len(rows) > count:
        return None
    objects = {(xact, id): object for xact, id, object in rows if (xact, id) not in known}
    return Unread(objects, end)


def settled(shop: Shop) -> Horizon:
    """The horizon, but at most the caller's own transaction, which `horizon` does not count as running."""
    end = horizon(shop)
    own = dialect.own_transaction()
    return end if own is None else end._replace(position=min(end.position, (own, 0)))


def changes_between(
    shop: Shop, kind: str, after: Position, last: Position, *, count: int, visible: str, now: datetime
) -> tuple[dict[int, Changed], Position]:
    """The next objects that changed after one position and up to another, at most `count`, by id in the order of their
    changes; and the position up to which these are all. `visible` is an SQL condition on the change `c`, with
    `%(now)s`."""
    rows = fetch(
        connection,
        "SELECT c.object_id, c.variant_id, c.at, c.xact, c.id FROM sync_change c"
        f" WHERE c.shop_id = %(shop)s AND c.kind = %(kind)s AND {dialect.BETWEEN} AND {visible}"
        f" ORDER BY c.xact, c.id LIMIT {MAX_CHANGES}",
        {"shop": shop.pk, "kind": kind, "now": as_stored(now)}
        | {"xact": after[0], "id": after[1], "last_xact": last[0], "last_id": last[1]},
    )
    found: dict[int, Changed] = {}
    reached = after
    for object_id, variant, at, xact, id in rows:
        if object_id not in found and len(found) == count:
            return found, reached
        reached = (xact, id)
        changed = found.setdefault(object_id, Changed(as_utc(at)))
        changed.at = as_utc(at)
        changed.variants.add(variant)
    return found, last if len(rows) < MAX_CHANGES else reached


def as_utc(at: Any) -> datetime:
    """A time as a hand-written statement returns it: SQLite's are texts or have no zone."""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def as_stored(moment: datetime) -> Any:
    """The moment as a hand-written statement compares it: text on SQLite."""
    return connection.ops.adapt_datetimefield_value(moment)


def deletions(
    statement: str, params: dict[str, Any], *, start: int, count: int
) -> tuple[Sequence[tuple[Any, ...]], int]:
    """`count` rows of the statement from `start` on, ordered by its first two columns; and how many it has."""
    ((total,),) = fetch(connection, f"SELECT count(*) FROM ({statement}) gone", params, prepared=False)
    if start >= total:
        return [], total
    page = f"SELECT * FROM ({statement}) gone ORDER BY 1, 2 LIMIT {int(count)} OFFSET {int(start)}"
    return fetch(connection, page, params, prepared=False), total


def begin_generation(*, shop: Shop) -> None:
    """Refuse all cursors of the shop that were handed out before."""
    Log.objects.get_or_create(shop=shop)
    Log.objects.filter(shop=shop).update(generation=F("generation") + 1)


def delete_old_changes(*, now: datetime, limit: int) -> int:
    """Delete changes that no cursor can still be before. Returns how many rows and partitions."""
    age = RETENTION + timedelta(days=1)
    old = CHANGES.oldest(before=now - age, limit=limit)
    return CHANGES.drop_ended(now=now, age=age) + Change.objects.filter(pk__in=old).delete()[0]

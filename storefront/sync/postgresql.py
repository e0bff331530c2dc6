# ruff: noqa: S608, the statements consist of the names in this package.
"""What the log of changes needs of PostgreSQL, where a change's position begins with its transaction."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import connection

from storefront.kit.sql import fetch

if TYPE_CHECKING:
    from storefront.sync.triggers import Watched

XACT, NOW = "pg_current_xact_id()::text::bigint", "clock_timestamp()"
MONTH_AGO = "now() - interval '31 days'"
# The oldest transaction that is still running; all before it have ended. One that certainly belongs to another database
# of the server does not count.
_OLDEST_RUNNING = """
    SELECT min(x.xact::text::bigint) FROM pg_snapshot_xip(pg_current_snapshot()) x (xact)
    LEFT JOIN pg_locks l ON l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock'
        AND l.transactionid = x.xact::xid
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE a.datname IS NULL OR a.datname = current_database()
"""
_NEXT = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
# By its lock alone: a snapshot lists some that have ended by the time that locks are read, and not the newest.
_HOLDER = """
    SELECT l.transactionid::text::bigint, COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - a.xact_start), 0)
    FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock'
        AND (a.datname IS NULL OR a.datname = current_database())
    ORDER BY age(l.transactionid) DESC LIMIT 1
"""
# The end of the log, and the newest position that this can ever have been.
HORIZON = f"COALESCE(({_OLDEST_RUNNING}), {_NEXT}), 0::bigint, {_NEXT}, 0::bigint"
AFTER = "(c.xact, c.id) > (%(xact)s, %(id)s)"
BETWEEN = f"{AFTER} AND (c.xact, c.id) <= (%(last_xact)s, %(last_id)s)"


def oldest_running() -> tuple[int, float] | None:
    """The oldest running transaction that has written, before which every feed ends, by its number within an epoch, and
    its age in seconds: 0 if it belongs to a role that hides it. None if no such transaction runs."""
    rows = fetch(connection, _HOLDER, {})
    return (rows[0][0], float(rows[0][1])) if rows else None


def own_transaction() -> int | None:
    """The transaction that this connection is in, if it has written."""
    if not connection.in_atomic_block:
        return None
    ((own,),) = fetch(connection, "SELECT pg_current_xact_id_if_assigned()::text::bigint", {})
    return own


def triggers(watched: "Watched", event: str, name: str) -> Sequence[str]:
    """The statements that create the trigger `name`, which logs these writes."""
    rows = "OLD" if event == "delete" else "NEW"
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$\nBEGIN\n"
        f"  {watched.logged(_written(watched))};\n  RETURN NULL;\nEND $$",
        f"CREATE TRIGGER {name} AFTER {event.upper()} ON {watched.table}\n"
        f"  REFERENCING {rows} TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
    ]


def _written(watched: "Watched") -> str:
    """The rows that a statement wrote. Those of one object, such as all variants of a new product, are one change."""
    columns = watched.columns()
    if watched.source or "id" in columns:
        return "written r"
    return f"(SELECT DISTINCT shop_id, {', '.join(sorted(columns))} FROM written) r"

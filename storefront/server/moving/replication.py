"""Copies the rows of a shop to the target, and keeps them up to date, by a publication with row filters.

What must never happen: a change of any shop fails because a table's filter needs columns that are not in its replica
identity. So the identities are set before the publication exists, and reset after it is gone.
"""

import time
from collections.abc import Callable
from functools import partial

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from storefront.server.archive.tables import Table
from storefront.server.command import Failed
from storefront.server.moving import gate
from storefront.server.moving.sides import MAX_STATEMENT_SECONDS, Side
from storefront.server.moving.tables import of_shop, replicated

POLL_SECONDS = 0.5
# Refusals of rows after which a copy is given up. The reason is in the target's log.
MAX_ERRORS = 5


def link(shop: int) -> str:
    """The name of the move's publication, slot and subscription."""
    return f"storefront_move_{shop}"


def start(source: Side, target: Side, shop: int) -> None:
    """Begin to copy. Safe to run again: what is there already stays."""
    with gate.alone(source):
        _publish(source, shop)
    if target.value("SELECT 1 FROM pg_subscription WHERE subname = %s", [link(shop)]):
        return
    _create_slot(source, shop)
    given = conninfo_to_dict(source.pod.database)
    address = make_conninfo("", **given).replace("'", "''")
    target.run(
        f"CREATE SUBSCRIPTION {link(shop)} CONNECTION '{address}' PUBLICATION {link(shop)} WITH (create_slot = false,"
        f" slot_name = '{link(shop)}', copy_data = true)"
    )


def _publish(source: Side, shop: int) -> None:
    for place in _places(source, "d"):
        gate.change_table(source, partial(source.run, f"ALTER TABLE {place} REPLICA IDENTITY FULL"))
    if not source.value("SELECT 1 FROM pg_publication WHERE pubname = %s", [link(shop)]):
        tables = ", ".join(f"{table._meta.db_table} WHERE ({of_shop(table, shop)})" for table in replicated())
        source.run(
            f"CREATE PUBLICATION {link(shop)} FOR TABLE {tables} WITH (publish = 'insert, update, delete',"
            " publish_via_partition_root = true)"
        )


def _create_slot(source: Side, shop: int) -> None:
    drop_slots(source, shop)
    try:
        # Creating a slot waits for all transactions that run now.
        source.run("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [link(shop)])
    except psycopg.errors.QueryCanceled:
        raise Failed(
            f"A transaction of pod {source.number} is older than {MAX_STATEMENT_SECONDS} s, and copying cannot begin"
            " before it ends. Run this again."
        ) from None


def await_copy(source: Side, target: Side, shop: int, progress: Callable[[str], None]) -> None:
    """Wait until all tables are copied. Raises Failed if the target refuses rows again and again."""
    last = -1
    while True:
        states = target.rows(
            "SELECT srsubstate FROM pg_subscription_rel JOIN pg_subscription ON oid = srsubid WHERE subname = %s",
            [link(shop)],
        )
        waiting = sum(state != "r" for (state,) in states)
        if states and not waiting:
            return
        if waiting != last:
            progress(f"{waiting} of {len(states)} tables are being copied.")
            last = waiting
        require_progress(target, shop)
        time.sleep(POLL_SECONDS)


def require_progress(target: Side, shop: int) -> None:
    """Raise Failed if rows were refused MAX_ERRORS times."""
    errors = target.value(
        "SELECT apply_error_count + sync_error_count FROM pg_stat_subscription_stats WHERE subname = %s", [link(shop)]
    )
    if errors and errors >= MAX_ERRORS:
        raise Failed(
            f"Pod {target.number} refuses rows of the shop; the log of its PostgreSQL has the reason. Run this again"
            " when it is mended, or with --back."
        )


def await_changes(source: Side, shop: int, seconds: float) -> bool:
    """Wait until the target has applied all that is committed now. Returns False if the time is over before."""
    position, until = source.value("SELECT pg_current_wal_lsn()"), time.monotonic() + seconds
    while time.monotonic() < until:
        if source.value(
            "SELECT 1 FROM pg_stat_replication WHERE application_name = %s AND replay_lsn >= %s", [link(shop), position]
        ):
            return True
        time.sleep(0.01)
    return False


def end_at_target(target: Side, shop: int) -> None:
    """Drop the subscription, in one transaction, without a word to the source. Safe to run again."""
    if target.value("SELECT 1 FROM pg_subscription WHERE subname = %s", [link(shop)]):
        target.run(f"ALTER SUBSCRIPTION {link(shop)} DISABLE")
        target.run(f"ALTER SUBSCRIPTION {link(shop)} SET (slot_name = NONE)")
        target.run(f"DROP SUBSCRIPTION {link(shop)}")


def end_at_source(source: Side, shop: int) -> None:
    """Drop publication and slots, and reset the identities unless another move needs them. Safe to run again."""
    drop_slots(source, shop)
    with gate.alone(source):
        _withdraw(source, shop)


def _withdraw(source: Side, shop: int) -> None:
    source.run(f"DROP PUBLICATION IF EXISTS {link(shop)}")
    if not source.value(r"SELECT 1 FROM pg_publication WHERE pubname LIKE 'storefront\_move\_%'"):
        for place in _places(source, "f"):
            gate.change_table(source, partial(source.run, f"ALTER TABLE {place} REPLICA IDENTITY DEFAULT"))


def drop_slots(source: Side, shop: int) -> None:
    """Drop the move's slot. Safe to run again."""
    _drop_slots(source, "slot_name = %s", link(shop))


def drop_slots_of_copies(source: Side, target: Side, shop: int) -> None:
    """End the subscription's work, and drop the slots with which it copies single tables. Safe to run again."""
    if subscription := target.value("SELECT oid FROM pg_subscription WHERE subname = %s", [link(shop)]):
        target.run(f"ALTER SUBSCRIPTION {link(shop)} DISABLE")
        _drop_slots(source, "slot_name LIKE %s", f"pg\\_{subscription}\\_sync\\_%")


def _drop_slots(source: Side, condition: str, value: str) -> None:
    mine = f"FROM pg_replication_slots WHERE database = current_database() AND {condition}"
    until = time.monotonic() + MAX_STATEMENT_SECONDS
    while found := source.rows(f"SELECT slot_name, active_pid {mine}", [value]):
        for slot, pid in found:
            try:
                if pid:
                    source.run("SELECT pg_terminate_backend(%s)", [pid])
                source.run("SELECT pg_drop_replication_slot(%s)", [slot])
            except (psycopg.errors.ObjectInUse, psycopg.errors.UndefinedObject):
                # The slot's sender is still ending, or has dropped the slot itself.
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)


def _places(source: Side, identity: str) -> list[str]:
    """The tables, and partitions, with this replica identity that are published."""
    roots = [table._meta.db_table for table in replicated() if not _filters_by_key(table)]
    return [
        place
        for (place,) in source.rows(
            "WITH RECURSIVE part (id) AS (SELECT unnest(%s::text[])::regclass::oid UNION ALL SELECT inhrelid FROM"
            " pg_inherits JOIN part ON inhparent = id) SELECT id::regclass::text FROM part JOIN pg_class ON oid = id"
            " WHERE relreplident = %s",
            [roots, identity],
        )
    ]


def _filters_by_key(table: Table) -> bool:
    return table._meta.pk.column == "shop_id"

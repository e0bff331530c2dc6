# ruff: noqa: S608, the statements consist of names of tables, columns and numbers.
"""The triggers by which the database refuses writes of one shop. They exist only while it moves.

At the source, each transaction that writes rows of the shop shares an advisory lock, which its end releases. The stop
takes this lock for itself: that waits for all writers, and refuses new ones, also if their transactions began before.
If the move is killed, its connection ends and the lock with it: the shop sells on. Writers get the error of a database
that is not available, so that the service answers 503 with `Retry-After` and the worker tries again (R-ERR-12).

At the target, nobody but replication writes the shop's rows before it is there: such writes do nothing. A worker that
finds a row of the shop there cannot claim it, and so does not act on it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg

from storefront.server.archive.tables import Table, path_to_shop
from storefront.server.command import Failed
from storefront.server.moving.sides import Side
from storefront.server.moving.tables import late, replicated

# Advisory locks of 64 bits: above all ids of shops. The first is that of writers, the second that of the move itself.
WRITERS, MOVES = 1 << 60, 1 << 61
# How long a change of a table waits for others' transactions before it lets them go on, and how often it tries.
MAX_LOCK_SECONDS, MAX_TRIES = 1, 120
TASKS, DELIVERIES = "django_tasks_database_dbtaskresult", "webhooks_delivery"

# The trigger functions of all moves. The first argument is the shop's id.
FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION pods_lets_write(moved bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  is_free boolean := pg_try_advisory_xact_lock_shared({WRITERS} + moved);
  reached text;
BEGIN
  -- Read after the lock: who waited for it must see what the move has written.
  SELECT step INTO reached FROM pods_shopmove WHERE shop_id = moved;
  IF reached IN ('arriving', 'leaving') THEN RETURN false; END IF;
  IF NOT is_free OR reached IN ('switching', 'moved', 'shelved') THEN
    RAISE EXCEPTION USING ERRCODE = 'operator_intervention', MESSAGE = 'The shop is being moved to another pod.';
  END IF;
  RETURN true;
END $$;
CREATE OR REPLACE FUNCTION pods_on_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pods_lets_write(TG_ARGV[0]::bigint) THEN RETURN NULL; END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION pods_on_write_of_source() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE written bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN written := OLD.source_id; ELSE written := NEW.source_id; END IF;
  IF EXISTS (SELECT 1 FROM catalogue_importsource WHERE id = written AND shop_id = TG_ARGV[0]::bigint)
      AND NOT pods_lets_write(TG_ARGV[0]::bigint) THEN RETURN NULL; END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION pods_on_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM pods_shopmove WHERE shop_id = TG_ARGV[0]::bigint AND step <> 'copying'
      AND step <> 'arrived') THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION pods_on_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The stop waits for who queues a task, too, and refuses it: a contact message is nothing but its task.
  IF TG_OP = 'INSERT' THEN PERFORM pods_lets_write(TG_ARGV[0]::bigint); END IF;
  IF EXISTS (SELECT 1 FROM pods_shopmove WHERE shop_id = TG_ARGV[0]::bigint AND step <> 'copying'
      AND step <> 'arrived') THEN NEW.status := 'MOVING'; END IF;
  RETURN NEW;
END $$;
"""


def close(side: Side, shop: int) -> None:
    """Create the triggers on all tables that have rows of the shop, one table after the other."""
    with alone(side):
        side.run(FUNCTIONS)
    for table in gated():
        change_table(side, partial(_create, side, table, shop))
    change_table(side, partial(_create_for_worker, side, shop))


def open(side: Side, shop: int) -> None:
    """Drop the triggers. Safe to run again."""
    for table in [*(table._meta.db_table for table in gated()), TASKS]:
        drops = [
            f"DROP TRIGGER {trigger} ON {table}"
            for (trigger,) in side.rows(
                "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgparentid = 0 AND tgname LIKE %s",
                [table, f"aa_moving_%_{shop}"],
            )
        ]
        if drops:
            change_table(side, partial(side.run, "; ".join(drops)))


@contextmanager
def alone(side: Side) -> Iterator[None]:
    """Keep other moves of the pod out, for what they share: functions and replica identities."""
    until = time.monotonic() + MAX_TRIES
    while not side.value("SELECT pg_try_advisory_lock(%s)", [MOVES]):
        if time.monotonic() > until:
            raise Failed(f"Another move prepares the tables of pod {side.number}. Run this again.")
        time.sleep(0.2)
    try:
        yield
    finally:
        side.run("SELECT pg_advisory_unlock(%s)", [MOVES])


def gated() -> tuple[Table, ...]:
    return (*replicated(), *late())


def change_table(side: Side, change: Callable[[], Any]) -> None:
    """Run the change in a transaction of its own. It waits for others' transactions for MAX_LOCK_SECONDS, then lets
    those go on who wait behind it, and tries again."""
    for _ in range(MAX_TRIES):
        try:
            with side.connection.transaction():
                side.run(f"SET LOCAL lock_timeout = '{MAX_LOCK_SECONDS}s'")
                change()
            return
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            time.sleep(MAX_LOCK_SECONDS)
    raise Failed(f"Pod {side.number} has transactions that hold a table for minutes. Run this again when they ended.")


def _create(side: Side, table: Table, shop: int) -> None:
    path, place = path_to_shop(table) or "", table._meta.db_table
    column = table._meta.pk.column if path == "pk" else path
    is_direct = "__" not in path
    function = "pods_on_write" if is_direct else "pods_on_write_of_source"
    # Before all other triggers, which run in the order of their names.
    for kind, events, row in (("insert", "INSERT", "NEW"), ("change", "UPDATE OR DELETE", "OLD")):
        condition = f"WHEN ({row}.{column} = {shop})" if is_direct else ""
        _replace(side, f"aa_moving_{kind}_{shop}", f"BEFORE {events} ON {place}", condition, f"{function}('{shop}')")


def _create_for_worker(side: Side, shop: int) -> None:
    is_claim = f"OLD.shop_id = {shop} AND NEW.lease IS NOT NULL AND NEW.lease IS DISTINCT FROM OLD.lease"
    # Before `aa_moving_change`: a batch of claims leaves the shop's out, and does not fail with them.
    claim, task = f"aa_moving_a_claim_{shop}", f"aa_moving_task_{shop}"
    _replace(side, claim, f"BEFORE UPDATE ON {DELIVERIES}", f"WHEN ({is_claim})", f"pods_on_claim('{shop}')")
    is_task = f"NEW.status = 'READY' AND NEW.args_kwargs -> 'args' ->> 0 = '{shop}'"
    _replace(side, task, f"BEFORE INSERT OR UPDATE ON {TASKS}", f"WHEN ({is_task})", f"pods_on_task('{shop}')")


def _replace(side: Side, trigger: str, event: str, condition: str, function: str) -> None:
    side.run(f"CREATE OR REPLACE TRIGGER {trigger} {event} FOR EACH ROW {condition} EXECUTE FUNCTION {function}")

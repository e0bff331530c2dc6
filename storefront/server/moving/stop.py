# ruff: noqa: S608, the statements consist of names of tables, columns and numbers.
"""The stop: writes of the shop are refused, both sides are compared, and the target gets the shop's row.

The order makes sure that one pod at most accepts writes at any moment:

1. The writers' lock is taken at the source (`gate.py`), for MAX_STOP_SECONDS at most: its server ends the connection
   that holds it, whatever happens to this program.
2. The target applies what is committed. Counts and digests of all tables are compared.
3. In one open transaction, the target gets the late rows and the tasks, and ends its subscription.
4. The connection that holds the lock writes `switching` at the source. From here, writes are refused without the lock.
5. The target commits: the shop is served there. This cannot be undone.
6. The source gives up the shop's row, and leads on to the target.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import psycopg

from storefront.pods.models import ShopMove
from storefront.server.archive.tables import Table
from storefront.server.moving import checks, replication, tasks
from storefront.server.moving.gate import WRITERS
from storefront.server.moving.sessions import Sessions
from storefront.server.moving.sides import Side, connect
from storefront.server.moving.state import set_step
from storefront.server.moving.tables import columns, late, of_shop, replicated

Step = ShopMove.Step
# The longest stop, how long it may wait for running writers, and for the target.
MAX_STOP_SECONDS, MAX_WAIT_SECONDS = 4.8, 1.5
# Connections to each pod that compare tables at once.
COMPARERS = 4


class NotNow(Exception):
    """The stop was given up, and the shop sells on at the source. The text is a sentence for people."""


class Differs(NotNow):
    """A table of the target is not that of the source."""


class Stop:
    """One attempt. Connections are opened before, so that the stop is short."""

    def __init__(self, source: Side, target: Side, shop: int, sessions: Sessions) -> None:
        self.source, self.target, self.shop, self.sessions = source, target, shop, sessions

    def switch(self) -> float:
        """Stop, compare and switch. Returns the seconds for which writes were refused until the target had the shop.
        Raises NotNow, after which the shop sells at the source as before."""
        source, target, shop = self.source, self.target, self.shop
        with ExitStack() as stack:
            lock = stack.enter_context(closing(connect(source.pod)))
            pairs = [
                tuple(Side(side.pod, stack.enter_context(closing(connect(side.pod)))) for side in (source, target))
                for _ in range(COMPARERS)
            ]
            threads = stack.enter_context(ThreadPoolExecutor(COMPARERS))
            stopped = time.monotonic()
            try:
                self._take(lock, stopped)
                self._require_quiet()
                left = MAX_STOP_SECONDS - (time.monotonic() - stopped)
                if not replication.await_changes(source, shop, min(left, MAX_WAIT_SECONDS)):
                    raise NotNow("The target has not applied all changes in time.")
                list(threads.map(lambda number: _compare(pairs[number], number, shop), range(COMPARERS)))
                checks.require_references(source, target, shop)
                self.sessions.copy()
                with target.connection.transaction():
                    self._fill()
                    with lock.transaction():
                        if not set_step(Side(source.pod, lock), shop, Step.SWITCHING, only_if=Step.DRAINING):
                            raise NotNow("The stop came too late, and the workers went on.")
                return time.monotonic() - stopped
            except psycopg.OperationalError as error:
                # The server ended the lock's connection, a statement took too long, or the target is away.
                raise NotNow(f"The stop was given up: {' '.join(str(error).split())}") from None

    def _take(self, lock: psycopg.Connection[Any], stopped: float) -> None:
        """Wait for running writers and refuse new ones. The server ends the connection when the stop is over."""
        lock.execute(f"SET lock_timeout = '{int(MAX_WAIT_SECONDS * 1000)}ms'")
        try:
            lock.execute("SELECT pg_advisory_lock(%s)", [WRITERS + self.shop])
        except psycopg.errors.LockNotAvailable:
            raise NotNow(f"A transaction of the shop takes longer than {MAX_WAIT_SECONDS} s.") from None
        left = int((MAX_STOP_SECONDS - (time.monotonic() - stopped)) * 1000)
        lock.execute(f"SET idle_session_timeout = '{left}ms'")

    def _require_quiet(self) -> None:
        # Once more, for tasks whose transactions have ended only now.
        tasks.hold(self.source, self.shop)
        if checks.is_working(self.source, self.shop):
            raise NotNow("A worker began a task of the shop.")

    def _fill(self) -> None:
        """Give the target what replication does not bring, and end replication, all in its open transaction."""
        source, target, shop = self.source, self.target, self.shop
        target.run("SET LOCAL session_replication_role = replica")
        for table in late():
            copy_rows(source, target, table, of_shop(table, shop))
            if digest(source, table, shop) != digest(target, table, shop):
                raise Differs(f"The rows of {table._meta.db_table} differ.")
        tasks.copy(source, target, shop)
        _begin_generation(source, target, shop)
        target.run("DELETE FROM pods_hostelsewhere WHERE shop_id = %s", [shop])
        replication.end_at_target(target, shop)
        set_step(target, shop, Step.ARRIVED)


def _compare(pair: tuple[Side, ...], number: int, shop: int) -> None:
    """Compare every COMPARERS-th table, of both sides at once."""
    source, target = pair
    with ThreadPoolExecutor(1) as other:
        for table in replicated()[number::COMPARERS]:
            there = other.submit(digest, target, table, shop)
            if digest(source, table, shop) != there.result():
                raise Differs(f"The rows of {table._meta.db_table} differ.")


def digest(side: Side, table: Table, shop: int) -> tuple[Any, ...]:
    """The number of the shop's rows in the table, and a sum of digests of all of their columns."""
    return side.rows(
        f"SELECT count(*), sum(hashtextextended(found::text, 0)) FROM (SELECT {columns(table)}"
        f" FROM {table._meta.db_table} WHERE {of_shop(table, shop)}) found"
    )[0]


def copy_rows(source: Side, target: Side, table: Table, condition: str) -> None:
    """Copy rows that fulfil the condition from pod to pod."""
    place, names = table._meta.db_table, columns(table)
    with (
        source.connection.cursor() as reader,
        target.connection.cursor() as writer,
        reader.copy(f"COPY (SELECT {names} FROM {place} WHERE {condition}) TO STDOUT") as blocks,
        writer.copy(f"COPY {place} ({names}) FROM STDIN") as copy,
    ):
        for block in blocks:
            copy.write(block)


def _begin_generation(source: Side, target: Side, shop: int) -> None:
    """End the cursors of the shop's feeds, which are positions in the source's log (sync/models.py)."""
    generation = (source.value("SELECT generation FROM sync_log WHERE shop_id = %s", [shop]) or 0) + 1
    target.run(
        "INSERT INTO sync_log (shop_id, generation) VALUES (%s, %s) ON CONFLICT (shop_id)"
        " DO UPDATE SET generation = greatest(sync_log.generation, excluded.generation) + 1",
        [shop, generation],
    )


@contextmanager
def without_triggers(side: Side) -> Iterator[None]:
    """A transaction in which neither triggers nor foreign keys act."""
    with side.connection.transaction():
        side.run("SET LOCAL session_replication_role = replica")
        yield

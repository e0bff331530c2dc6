# ruff: noqa: S608, the statements consist of names of tables, columns and numbers.
"""The steps of a move, forward and back. Each is safe to run again, so a run that was killed is continued by the next.

The target's row decides: as long as it does not say `arrived`, the shop is the source's, and the move can be undone.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime

from storefront.installations.models import App
from storefront.pods.deployment import Pod
from storefront.pods.models import ShopMove
from storefront.pods.registry_triggers import DELETED_SLUG
from storefront.server.command import Failed
from storefront.server.moving import checks, gate, replication, shelf, state, tasks
from storefront.server.moving.sessions import Sessions
from storefront.server.moving.sides import Side, opened
from storefront.server.moving.stop import Differs, NotNow, Stop, copy_rows, without_triggers
from storefront.server.moving.tables import late, of_shop, replicated
from storefront.shops.announcing import CHANNEL
from storefront.shops.position_sql import RECORD

Step = ShopMove.Step
Progress = Callable[[str], None]
# Stops that are tried, seconds between two of them, and for which the work of a worker may go on before one.
MAX_STOPS, STOP_PAUSE_SECONDS, MAX_DRAIN_SECONDS = 5, 5.0, 15.0
# Seconds for which a task of the shop, such as an import, may hold up the stop. The copy is kept up to date meanwhile.
MAX_TASK_SECONDS = 3600
_HOSTS = """
    INSERT INTO pods_hostelsewhere (host, shop_id, pod, is_domain)
    SELECT domain, id, %(pod)s, true FROM shops_shop WHERE id = %(shop)s
    UNION ALL
    SELECT domain, shop_id, %(pod)s, false FROM shops_shopdomain
    WHERE shop_id = %(shop)s AND confirmed_at IS NOT NULL
    ON CONFLICT (host) DO UPDATE SET shop_id = excluded.shop_id, pod = excluded.pod, is_domain = excluded.is_domain
"""
_TOKENS = """
    INSERT INTO pods_tokenelsewhere (digest, shop_id) SELECT digest, shop_id FROM shops_apitoken WHERE shop_id = %s
    ON CONFLICT (digest) DO NOTHING
"""


@dataclass(frozen=True)
class Moved:
    """The shop is at the target. `stop_seconds` is None if an earlier run switched it."""

    shop: int
    stop_seconds: float | None


@dataclass
class Move:
    """A move whose two pods are connected, and that no other run has."""

    source: Side
    target: Side
    row: ShopMove
    progress: Progress

    @property
    def shop(self) -> int:
        return self.row.shop_id

    def forward(self) -> Moved:
        """Go on from wherever the move is, until the shop is at the target and the old rows are put aside."""
        seconds = None
        if not self._is_switched():
            self._prepare()
            self._copy()
            seconds = self._switch()
        self._finish()
        return Moved(self.shop, seconds)

    def back(self) -> None:
        """Undo the move. Raises Failed if the target serves the shop already."""
        if self._is_switched():
            raise Failed(
                f"Pod {self.target.number} serves the shop already, so this move cannot be undone. Run it without"
                " --back to end it, and then move the shop again."
            )
        found = state.step_of(self.source, self.shop)
        if found is None:
            raise Failed(f"{self.row.domain} is not being moved; there is nothing to undo.")
        if found == Step.ASKED:
            state.forget(self.source, self.shop)
            return
        self.progress("step back: the copy is deleted.")
        state.begin(self.target, self.row, Step.LEAVING)
        state.set_step(self.target, self.shop, Step.LEAVING)
        state.set_step(self.source, self.shop, Step.COPYING)
        tasks.release(self.source, self.shop)
        replication.drop_slots_of_copies(self.source, self.target, self.shop)
        replication.end_at_target(self.target, self.shop)
        replication.end_at_source(self.source, self.shop)
        for table in reversed((*replicated(), *late())):
            with without_triggers(self.target):
                self.target.run("SET LOCAL statement_timeout = 0")
                self.target.run(f"DELETE FROM {table._meta.db_table} WHERE {of_shop(table, self.shop)}")
        for side in (self.target, self.source):
            gate.open(side, self.shop)
            state.forget(side, self.shop)

    def _is_switched(self) -> bool:
        """Whether the target has committed. Waits for a commit of a killed run, and takes back its announcement if
        there was none."""
        if state.step_of(self.target, self.shop, locked=True) == Step.ARRIVED:
            return True
        found = state.step_of(self.source, self.shop)
        if found in (Step.MOVED, Step.SHELVED):
            return True
        if found == Step.SWITCHING:
            state.set_step(self.source, self.shop, Step.DRAINING)
        return False

    def _prepare(self) -> None:
        if state.step_of(self.target, self.shop) == Step.LEAVING:
            raise Failed("This move is being undone. Run it with --back until that is done.")
        if state.step_of(self.source, self.shop) in (None, Step.ASKED):
            checks.require_settings(self.source, self.target)
            checks.require_free(self.target, self.shop, _domains(self.source, self.shop))
        self._bring_deleted_apps()
        checks.require_references(self.source, self.target, self.shop)
        self.progress("step prepare: the tables are prepared.")
        state.begin(self.source, self.row, Step.COPYING)
        state.set_step(self.source, self.shop, Step.COPYING)
        state.begin(self.target, self.row, Step.ARRIVING)
        # The target first: nobody else may write rows there from the first one on.
        for side in (self.target, self.source):
            gate.close(side, self.shop)

    def _bring_deleted_apps(self) -> None:
        """Apps that pod 0 has deleted stay where shops had installed them (`pods/registry_triggers.py`), so the target
        can lack them for good. Pod 0 itself gets none: it would send them to all pods."""
        if self.target.number == 0:
            return
        used = "SELECT app_id FROM apps_installation WHERE shop_id = %s"
        found = self.source.rows(
            f"SELECT id FROM apps_app WHERE starts_with(slug, '{DELETED_SLUG}') AND id IN ({used})", [self.shop]
        )
        known = {id for (id,) in self.target.rows("SELECT id FROM apps_app")}
        if lacking := [str(id) for (id,) in found if id not in known]:
            with without_triggers(self.target):
                copy_rows(self.source, self.target, App, f"id IN ({', '.join(lacking)})")

    def _copy(self) -> None:
        self.progress("step copy: the rows are copied, while the shop sells.")
        replication.start(self.source, self.target, self.shop)
        replication.await_copy(self.source, self.target, self.shop, self.progress)

    def _switch(self) -> float | None:
        """Stop and switch, at most MAX_STOPS times. Returns the seconds for which writes were refused; None if the
        target has committed, and could not say so."""
        sessions = Sessions(self.source, self.target, self.shop)
        for attempt in range(1, MAX_STOPS + 1):
            self._drain()
            try:
                sessions.copy()
                if not replication.await_changes(self.source, self.shop, MAX_DRAIN_SECONDS):
                    replication.require_progress(self.target, self.shop)
                    raise NotNow("The target is more than some seconds behind.")
                self.progress("step stop: writes are refused.")
                return Stop(self.source, self.target, self.shop, sessions).switch()
            except NotNow as refusal:
                if self._is_switched():
                    return None
                state.set_step(self.source, self.shop, Step.COPYING)
                tasks.release(self.source, self.shop)
                self.progress(f"Attempt {attempt} of {MAX_STOPS}: {refusal} The shop sells on.")
                if isinstance(refusal, Differs):
                    break
                time.sleep(STOP_PAUSE_SECONDS)
        raise Failed("The shop was not switched, and sells on where it was. Run this again, or with --back.")

    def _drain(self) -> None:
        """Let what the workers do for the shop end, and begin nothing new. What they queue waits."""
        until = time.monotonic() + MAX_TASK_SECONDS
        while time.monotonic() < until:
            self.progress("step drain: the worker's tasks for the shop end.")
            state.set_step(self.source, self.shop, Step.DRAINING)
            tasks.hold(self.source, self.shop)
            pause = time.monotonic() + MAX_DRAIN_SECONDS
            while time.monotonic() < pause:
                if not checks.is_working(self.source, self.shop):
                    return
                time.sleep(0.1)
            # A long task, such as an import: mails and webhooks of the shop must not wait for it.
            state.set_step(self.source, self.shop, Step.COPYING)
            tasks.release(self.source, self.shop)
            time.sleep(STOP_PAUSE_SECONDS)
        raise Failed("A task of the shop has been running for an hour. Run this again when it has ended.")

    def _finish(self) -> None:
        """End the move at both pods."""
        source, target, shop = self.source, self.target, self.shop
        self.progress("step switched: the target serves the shop.")
        # No replica of the target shows the shop before it has all of it.
        target.run(RECORD, [[shop]])
        _announce(target, shop)
        if state.step_of(source, shop) == Step.SWITCHING:
            with without_triggers(source):
                source.run(_HOSTS, {"shop": shop, "pod": target.number})
                source.run(_TOKENS, [shop])
                tasks.delete(source, shop)
                shelf.put_shop_aside(source, shop)
                state.set_step(source, shop, Step.MOVED)
            _announce(source, shop)
        self.progress("step shelve: the old rows are put aside.")
        replication.end_at_source(source, shop)
        shelf.put_rows_aside(source, shop)
        state.set_step(source, shop, Step.SHELVED)
        self.progress("step tidy: the target's tables are as before.")
        gate.open(target, shop)
        state.forget(target, shop)


@contextmanager
def opened_move(pods: Sequence[Pod], domain: str, to: int, progress: Progress) -> Iterator[Move]:
    """The move of this shop to pod `to`: one that was begun, or a new one. Raises Failed if another run has it, or if
    there is nothing to move."""
    by_number = {pod.number: pod for pod in pods}
    if to not in by_number:
        raise Failed(f"Pod {to} is not in the pods file. It has {', '.join(map(str, sorted(by_number)))}.")
    with ExitStack() as stack:
        sides = {pod.number: stack.enter_context(opened(pod)) for pod in pods}
        row = _stored(sides, domain, to) or _new(sides, domain, to)
        source, target = sides[row.source], sides[row.target]
        # Held by the connection, so that a killed run lets the next one go on.
        if not source.value("SELECT pg_try_advisory_lock(%s)", [gate.MOVES + row.shop_id]):
            raise Failed(f"Another run moves {domain} at the moment.")
        yield Move(source, target, row, progress)


def _stored(sides: dict[int, Side], domain: str, to: int) -> ShopMove | None:
    """The move that an earlier run has begun and not ended."""
    for side in sides.values():
        row = state.find(side, domain)
        if row is None or row.source != side.number:
            continue
        target = sides.get(row.target)
        if target is None and row.step != Step.SHELVED:
            raise Failed(f"{domain} is being moved to pod {row.target}, which the pods file does not have.")
        is_ended = row.step == Step.SHELVED and (target is None or not state.step_of(target, row.shop_id))
        if is_ended and row.target != to:
            raise Failed(f"Pod {side.number} keeps old rows of {domain}. Run storefront moveshop --finish, then this.")
        if row.target != to and not is_ended:
            raise Failed(f"{domain} is being moved to pod {row.target}. End that first, forward or with --back.")
        if not is_ended:
            return row
    return None


def _new(sides: dict[int, Side], domain: str, to: int) -> ShopMove:
    for side in sides.values():
        if shop := side.value("SELECT id FROM shops_shop WHERE domain = %s", [domain]):
            if side.number == to:
                raise Failed(f"Pod {to} serves {domain} already.")
            if side_with_rest := next((s for s in sides.values() if state.step_of(s, shop)), None):
                raise Failed(
                    f"Pod {side_with_rest.number} keeps old rows of {domain}. Run storefront moveshop --finish first."
                )
            return ShopMove(shop_id=shop, domain=domain, source=side.number, target=to)
    raise Failed(f"No pod has a shop with the domain {domain}.")


def asked(pods: Sequence[Pod]) -> list[tuple[str, int]]:
    """Domain and target of each move that operators have asked for, or that was begun and not ended."""
    found: list[tuple[str, int]] = []
    for pod in pods:
        with opened(pod) as side:
            found += side.rows(
                "SELECT domain, target FROM pods_shopmove WHERE source = %s AND step <> %s ORDER BY step_at",
                [pod.number, Step.SHELVED],
            )
    return found


def drop_old(pods: Sequence[Pod], now: datetime, *, at_once: bool = False) -> list[str]:
    """Drop the old rows of shops that moved more than a day ago, or of all. Returns the shops' domains."""
    domains = []
    for pod in pods:
        with opened(pod) as side:
            moment = now + shelf.KEPT if at_once else now
            for shop, domain in shelf.old(side, moment):
                gate.open(side, shop)
                shelf.drop(side, shop)
                domains.append(domain)
    return domains


def _domains(source: Side, shop: int) -> list[str]:
    rows = source.rows(
        "SELECT domain FROM shops_shop WHERE id = %s UNION SELECT domain FROM shops_shopdomain WHERE shop_id = %s",
        [shop, shop],
    )
    return [domain for (domain,) in rows]


def _announce(side: Side, shop: int) -> None:
    """Have the web processes drop what they have cached of the shop."""
    side.run("SELECT pg_notify(%s, %s)", [CHANNEL, str(shop)])

"""The worker's lanes: threads with a database connection each, so that nothing that waits holds up anything else."""

import ctypes
import socket
import time
from collections.abc import Sequence
from threading import Event, Thread

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, connections
from django.db.models import Q
from django_tasks_db.models import DBTaskResult
from django_tasks_db.utils import exclusive_transaction

from storefront import audit
from storefront.kit import clock
from storefront.server.worker.sweeps import Sweep
from storefront.server.worker.tasks import Interrupted, Tasks, requeue

log = structlog.get_logger(__name__)

# Seconds between checks for work. A check is one indexed read, or none, and takes no lock.
POLL_SECONDS = 1.0
# Seconds before trying again a database that cannot be reached.
RETRY_SECONDS = 5.0
# Seconds that a sweep may take before the next sweep has its turn.
TURN_SECONDS = 1.0
# Seconds that an interrupted task has to end.
INTERRUPT_SECONDS = 0.5


class Lane(Thread):
    """Calls `run_once` again and again until it is stopped."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.stopping = Event()

    def run_once(self) -> bool:
        """Returns whether there is more to do immediately."""
        raise NotImplementedError

    def run(self) -> None:
        """Work until stopped. While the database cannot be reached, try again every RETRY_SECONDS."""
        with audit.acting(audit.Actor(audit.Kind.WORKER), place=socket.gethostname()):
            self._repeat()

    def _repeat(self) -> None:
        while not self.stopping.is_set():
            try:
                close_old_connections()
                pause = 0 if self.run_once() else POLL_SECONDS
            except Interrupted:
                break
            except (DatabaseError, InterfaceError) as error:
                log.warning("database_away", lane=self.name, reason=str(error).strip())
                connections.close_all()
                pause = RETRY_SECONDS
            except Exception:
                log.exception("lane_broke", lane=self.name)
                connections.close_all()
                pause = RETRY_SECONDS
            self.stopping.wait(pause)
        connections.close_all()

    def stop(self) -> None:
        """Start nothing more; `join` waits for what is running."""
        self.stopping.set()

    def interrupt(self) -> None:
        """End what is still running long after `stop`."""


class TaskLane(Lane):
    """Runs queued tasks, one after another: those of this queue or, without one, those of all but the `excluded`.

    Shops take turns, so that one shop's ten thousand mails do not hold up another's one: a round runs the oldest due
    task of each. A task's first argument is its shop's id, or None for what belongs to no shop."""

    def __init__(self, name: str, *, queue: str | None = None, excluded: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.tasks = Tasks([queue] if queue else ["*"], excluded)
        queued = DBTaskResult.objects.exclude(queue_name__in=excluded)
        self.mine = queued.filter(queue_name=queue) if queue else queued
        # The shops that had their turn in this round.
        self.served: set[int | None] = set()
        # When to look for other shops again, after only one had anything to do: that reads all that waits.
        self.search_again_at = 0.0

    def run_once(self) -> bool:
        task = self._claim()
        if task is not None:
            self.tasks.run_task(task)
        return task is not None

    def _claim(self) -> DBTaskResult | None:
        while (found := self._next()) is not None:
            # Only here, since a write transaction that looks for tasks would block SQLite's writers every second.
            with exclusive_transaction(connection.alias):
                task = DBTaskResult.objects.ready().filter(pk=found.pk).get_locked()
                if task is not None:
                    task.claim(self.tasks.worker_id)
            if task is not None:
                self.served.add(next(iter(task.args_kwargs["args"]), None))
                return task
            # Another worker was faster.
        return None

    def _next(self) -> DBTaskResult | None:
        """The oldest due task of a shop that had no turn in this round; if there is none, a new round begins."""
        due = self.mine & DBTaskResult.objects.ready()
        if self.served and time.monotonic() >= self.search_again_at:
            shops = self.served - {None}
            had_turn = Q(args_kwargs__args__0__in=shops)
            if None in self.served:
                had_turn |= Q(args_kwargs__args__0=None)
            if found := due.exclude(had_turn).first():
                return found
            if len(self.served) == 1:
                self.search_again_at = time.monotonic() + POLL_SECONDS
            self.served.clear()
        return due.first()

    def interrupt(self) -> None:
        """Requeue the running task. It is interrupted first; one that waits for a network or a lock does not notice
        that in time.

        Without the interruption, an import would see its reading process end before itself, and be stored as failed
        instead of going on in the next worker; its copy of the file would stay on the disk.
        `tests/server/test_worker.py` sees that: "a task that takes too long to end is requeued".
        """
        task = self.tasks.running_row
        if task is None or self.ident is None:
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(Interrupted))
        self.join(INTERRUPT_SECONDS)
        if self.is_alive():
            try:
                requeue(task)
            except (DatabaseError, InterfaceError) as error:
                # The next worker takes it over when its lease ends.
                log.warning("task_lease_stays", reason=str(error).strip())


class SweepLane(Lane):
    """Runs the sweeps that are due, each for TURN_SECONDS at most before the next one has its turn."""

    def __init__(self, name: str, sweeps: Sequence[Sweep]) -> None:
        super().__init__(name)
        self.sweeps = sweeps
        self.due = dict.fromkeys((sweep.name for sweep in sweeps), 0.0)

    def run_once(self) -> bool:
        due = [sweep for sweep in self.sweeps if time.monotonic() >= self.due[sweep.name]]
        return any([self._sweep(sweep) for sweep in due if not self.stopping.is_set()])

    def _sweep(self, sweep: Sweep) -> bool:
        """Run the sweep. Returns True if it stopped because its turn was over."""
        started = time.monotonic()
        self.due[sweep.name] = started + sweep.every.total_seconds()
        try:
            cleared = sweep.run(now=clock.now(), until=started + TURN_SECONDS, stopping=self.stopping)
        except (DatabaseError, InterfaceError, ImproperlyConfigured):
            raise
        except Exception:
            log.exception("sweep_failed", sweep=sweep.name)
            return False
        if cleared:
            log.info("swept", sweep=sweep.name, cleared=cleared)
        if time.monotonic() < started + TURN_SECONDS:
            return False
        self.due[sweep.name] = 0.0
        return True

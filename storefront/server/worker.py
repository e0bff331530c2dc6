"""The background worker: delivers webhooks in one thread, and in another runs queued tasks one after another, and
between them what is due of the sweeps.

Any number of workers may run. A task is claimed by one of them in a transaction of its own, a delivery is leased to
one; a sweep that two run at once finds less to do.
"""

import asyncio
import resource
import signal
import time
from threading import Event, Thread
from types import FrameType

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, connections
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.server.sweeps import SWEEPS, Sweep
from storefront.server.tasks import Interrupted, Tasks
from storefront.webhooks.delivering import Deliverer

log = structlog.get_logger(__name__)

# Seconds between looks at an empty queue. A look is one indexed read and takes no lock.
INTERVAL = 1.0
# Seconds that what is in flight has to end once the worker is told to stop; whoever told it waits ten.
GRACE = 8
# Seconds before trying again a database that cannot be reached.
PATIENCE = 5.0
# Files that a worker may open, of which each call in flight is one.
MOST_FILES = 4096


class Deliveries(Thread):
    """Delivers webhooks until told to stop. Should that break, the log says why, and it begins anew."""

    def __init__(self) -> None:
        super().__init__(name="deliveries", daemon=True)
        self.told_to_stop = Event()
        self.deliverer = Deliverer()

    def run(self) -> None:
        while not self.told_to_stop.is_set():
            try:
                asyncio.run(self.deliverer.run())
            except Exception:
                log.exception("deliveries_broke")
                self.deliverer = Deliverer()
                self.told_to_stop.wait(PATIENCE)

    def stop(self) -> None:
        """Begin no more; `join` waits for the end of what is in flight."""
        self.told_to_stop.set()
        self.deliverer.stop()


class Worker:
    """The loop. `stop` may be called from a signal handler."""

    def __init__(self, sweeps: list[Sweep] = SWEEPS) -> None:
        self.tasks = Tasks()
        self.deliveries = Deliveries()
        self.told_to_stop = Event()
        self.sweeps = sweeps
        self.due = dict.fromkeys((sweep.name for sweep in sweeps), 0.0)

    def run(self) -> None:
        """Work until told to stop; a database that is away is waited for."""
        log.info("worker_started")
        allow_files(MOST_FILES)
        self.deliveries.start()
        while not self.told_to_stop.is_set():
            pause = INTERVAL
            try:
                close_old_connections()
                self.run_once()
            except Interrupted:
                break
            except (DatabaseError, InterfaceError) as error:
                log.warning("database_away", reason=str(error))
                connections.close_all()
                pause = PATIENCE
            self.told_to_stop.wait(pause)
        # No task is left to be interrupted.
        signal.alarm(0)
        self.deliveries.join(GRACE)
        log.info("worker_stopped")

    def run_once(self) -> None:
        """Every task that waits, then each sweep that is due."""
        # The runner opens a write transaction to look; an idle worker must not stop SQLite's writers each second.
        if DBTaskResult.objects.ready().exists():
            self.tasks.run()
        for sweep in self.sweeps:
            if not self.told_to_stop.is_set() and time.monotonic() >= self.due[sweep.name]:
                self.sweep(sweep)

    def sweep(self, sweep: Sweep) -> None:
        self.due[sweep.name] = time.monotonic() + sweep.every.total_seconds()
        try:
            cleared = sweep.run(now=clock.now(), told_to_stop=self.told_to_stop.is_set)
        except (DatabaseError, InterfaceError, ImproperlyConfigured):
            raise
        except Exception:
            log.exception("sweep_failed", sweep=sweep.name)
        else:
            if cleared:
                log.info("swept", sweep=sweep.name, cleared=cleared)

    def stop(self) -> None:
        """Begin nothing more; what is in flight has GRACE seconds to end."""
        self.told_to_stop.set()
        self.tasks.running = False
        self.deliveries.stop()

    def stop_on_signals(self) -> None:
        def told(_number: int, _frame: FrameType | None) -> None:
            if not self.told_to_stop.is_set():
                self.stop()
                signal.alarm(GRACE)

        def out_of_time(_number: int, _frame: FrameType | None) -> None:
            raise Interrupted

        signal.signal(signal.SIGTERM, told)
        signal.signal(signal.SIGINT, told)
        signal.signal(signal.SIGALRM, out_of_time)


def allow_files(number: int) -> None:
    """Let this process open so many files, or as many as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def run() -> None:
    """Be a worker until a signal says stop."""
    # Kept between looks: making a connection costs more than a second's looks together.
    connection.settings_dict["CONN_MAX_AGE"] = None
    worker = Worker()
    worker.stop_on_signals()
    worker.run()

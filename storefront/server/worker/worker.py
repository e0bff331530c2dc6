"""The background worker: one thread delivers webhooks, another runs queued tasks one after the other, then the sweeps
that are due.

Any number of workers may run. A task is claimed by one of them in its own transaction, and a delivery is leased to one.
Sweeps are safe to run in two workers at once: the second finds fewer rows.
"""

import asyncio
import resource
import signal
import socket
import time
from threading import Event, Thread
from types import FrameType

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, connections
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.server.worker.sweeps import SWEEPS, Sweep
from storefront.server.worker.tasks import Interrupted, Tasks
from storefront.shops import audit
from storefront.webhooks.delivering import Deliverer

log = structlog.get_logger(__name__)

# Seconds between checks of an empty queue. A check is one indexed read and takes no lock.
POLL_SECONDS = 1.0
# Seconds that running work has to end after a stop signal; the supervisor waits ten.
STOP_GRACE_SECONDS = 8
# Seconds before trying again a database that cannot be reached.
RETRY_SECONDS = 5.0
# Files that a worker may open; each running call needs one.
MAX_OPEN_FILES = 4096


class DeliveryThread(Thread):
    """Delivers webhooks until it is stopped. An unexpected exception is logged, and delivering starts again."""

    def __init__(self) -> None:
        super().__init__(name="deliveries", daemon=True)
        self.stopping = Event()
        self.deliverer = Deliverer()

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                asyncio.run(self.deliverer.run())
            except Exception:
                log.exception("deliveries_broke")
                self.deliverer = Deliverer()
                self.stopping.wait(RETRY_SECONDS)

    def stop(self) -> None:
        """Start no more deliveries; `join` waits for the running ones."""
        self.stopping.set()
        self.deliverer.stop()


class Worker:
    """The loop. `stop` may be called from a signal handler."""

    def __init__(self, sweeps: list[Sweep] = SWEEPS) -> None:
        self.tasks = Tasks()
        self.deliveries = DeliveryThread()
        self.stopping = Event()
        self.sweeps = sweeps
        self.due = dict.fromkeys((sweep.name for sweep in sweeps), 0.0)

    def run(self) -> None:
        """Work until stopped. While the database cannot be reached, try again every RETRY_SECONDS."""
        log.info("worker_started")
        raise_open_file_limit(MAX_OPEN_FILES)
        self.deliveries.start()
        while not self.stopping.is_set():
            pause = POLL_SECONDS
            try:
                close_old_connections()
                self.run_once()
            except Interrupted:
                break
            except (DatabaseError, InterfaceError) as error:
                log.warning("database_away", reason=str(error))
                connections.close_all()
                pause = RETRY_SECONDS
            self.stopping.wait(pause)
        # No task is running any more, so nothing must be interrupted.
        signal.alarm(0)
        self.deliveries.join(STOP_GRACE_SECONDS)
        log.info("worker_stopped")

    def run_once(self) -> None:
        """Run every queued task, then each sweep that is due."""
        # The runner opens a write transaction to look for tasks, which would block SQLite's writers every second.
        if DBTaskResult.objects.ready().exists():
            self.tasks.run()
        for sweep in self.sweeps:
            if not self.stopping.is_set() and time.monotonic() >= self.due[sweep.name]:
                self.sweep(sweep)

    def sweep(self, sweep: Sweep) -> None:
        self.due[sweep.name] = time.monotonic() + sweep.every.total_seconds()
        try:
            cleared = sweep.run(now=clock.now(), should_stop=self.stopping.is_set)
        except (DatabaseError, InterfaceError, ImproperlyConfigured):
            raise
        except Exception:
            log.exception("sweep_failed", sweep=sweep.name)
        else:
            if cleared:
                log.info("swept", sweep=sweep.name, cleared=cleared)

    def stop(self) -> None:
        """Start nothing more. Running work has STOP_GRACE_SECONDS to end."""
        self.stopping.set()
        self.tasks.running = False
        self.deliveries.stop()

    def stop_on_signals(self) -> None:
        def on_stop(_number: int, _frame: FrameType | None) -> None:
            if not self.stopping.is_set():
                self.stop()
                signal.alarm(STOP_GRACE_SECONDS)

        def on_deadline(_number: int, _frame: FrameType | None) -> None:
            raise Interrupted

        signal.signal(signal.SIGTERM, on_stop)
        signal.signal(signal.SIGINT, on_stop)
        signal.signal(signal.SIGALRM, on_deadline)


def raise_open_file_limit(number: int) -> None:
    """Let this process open this many files, or as many as its hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def run() -> None:
    """Run a worker until a signal stops it."""
    # Keep the connection: opening one costs more than a second's checks together.
    connection.settings_dict["CONN_MAX_AGE"] = None
    worker = Worker()
    worker.stop_on_signals()
    with audit.acting(audit.Actor(audit.Kind.WORKER), place=socket.gethostname()):
        worker.run()

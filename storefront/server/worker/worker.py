"""The background worker: one thread delivers webhooks, one fetches pictures, and the main one runs queued tasks one
after the other, then the sweeps that are due.

Any number of workers may run. A task is claimed by one of them in its own transaction; a delivery, or a picture to
fetch, is leased to one.
Sweeps are safe to run in two workers at once: the second finds fewer rows.
"""

import asyncio
import resource
import signal
import socket
import time
from collections.abc import Callable
from threading import Event, Thread
from types import FrameType

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, connections
from django_tasks_db.models import DBTaskResult

from storefront.kit import clock
from storefront.pictures.fetching import Fetcher
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


class LoopThread(Thread):
    """Runs a loop of HTTP calls until it is stopped. After an unexpected exception, which is logged, a new one that
    `make_loop` makes runs."""

    def __init__(self, name: str, make_loop: Callable[[], Deliverer | Fetcher]) -> None:
        super().__init__(name=name, daemon=True)
        self.stopping = Event()
        self.make_loop = make_loop
        self.loop = make_loop()

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                asyncio.run(self.loop.run())
            except Exception:
                log.exception("loop_broke", loop=self.name)
                self.loop = self.make_loop()
                self.stopping.wait(RETRY_SECONDS)

    def stop(self) -> None:
        """Start no more calls; `join` waits for the running ones."""
        self.stopping.set()
        self.loop.stop()


class Worker:
    """The loop. `stop` may be called from a signal handler."""

    def __init__(self, sweeps: list[Sweep] = SWEEPS) -> None:
        self.tasks = Tasks()
        self.loops = [LoopThread("deliveries", Deliverer), LoopThread("pictures", Fetcher)]
        self.stopping = Event()
        self.sweeps = sweeps
        self.due = dict.fromkeys((sweep.name for sweep in sweeps), 0.0)

    def run(self) -> None:
        """Work until stopped. While the database cannot be reached, try again every RETRY_SECONDS."""
        log.info("worker_started")
        raise_open_file_limit(MAX_OPEN_FILES)
        for loop in self.loops:
            loop.start()
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
        deadline = time.monotonic() + STOP_GRACE_SECONDS
        for loop in self.loops:
            loop.join(max(deadline - time.monotonic(), 0))
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
        for loop in self.loops:
            loop.stop()

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

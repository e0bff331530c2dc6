"""The background worker: threads that deliver webhooks, fetch pictures, send mails, import and export files, run other
queued tasks, work with payments and clear what has expired. None of them waits for another.

Any number of workers may run. A task is claimed by one of them in its own transaction; a delivery, or a picture to
fetch, is leased to one.
Sweeps are safe to run in two workers at once: the second finds fewer rows.
"""

import asyncio
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from types import FrameType

import structlog
from django.db import connection

from storefront.kit.queues import FILES, MAILS
from storefront.pictures.fetching import Fetcher
from storefront.server import tracing
from storefront.server.worker.alive import touch_file
from storefront.server.worker.file_lane import FileLane
from storefront.server.worker.heartbeat import BEAT_SECONDS, Heartbeat
from storefront.server.worker.lanes import Lane, SweepLane, TaskLane
from storefront.server.worker.sweeps import DATABASE_SWEEPS, PAYMENT_SWEEPS, Sweep
from storefront.webhooks.delivering import Deliverer

log = structlog.get_logger(__name__)

# Seconds that running work has to end after a stop signal; the supervisor waits ten.
STOP_GRACE_SECONDS = 8
# Seconds before a loop that broke is replaced.
RETRY_SECONDS = 5.0


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

    def interrupt(self) -> None:
        """The loop itself gives up calls that do not end; another worker makes them again."""


class Worker:
    """All threads of a worker. `stop` may be called from a signal handler."""

    def __init__(self) -> None:
        every = timedelta(seconds=BEAT_SECONDS)
        # The file first, since all others need the database.
        beats = [Sweep("alive file", every, touch_file), Sweep("heartbeat", every, Heartbeat().beat)]
        self.threads: list[Lane | LoopThread] = [
            LoopThread("deliveries", Deliverer),
            LoopThread("pictures", Fetcher),
            TaskLane("mails", queue=MAILS),
            FileLane("files"),
            TaskLane("tasks", excluded=[MAILS, FILES]),
            SweepLane("payments", PAYMENT_SWEEPS),
            SweepLane("sweeps", [*beats, *DATABASE_SWEEPS]),
        ]
        self.stopping = Event()

    def run(self) -> None:
        """Work until stopped. Then running work has STOP_GRACE_SECONDS to end, and is interrupted."""
        log.info("worker_started")
        for thread in self.threads:
            thread.start()
        self.stopping.wait()
        deadline = time.monotonic() + STOP_GRACE_SECONDS
        for thread in self.threads:
            thread.join(max(deadline - time.monotonic(), 0))
        for thread in self.threads:
            if thread.is_alive():
                thread.interrupt()
        log.info("worker_stopped")

    def stop(self) -> None:
        """Start nothing more."""
        self.stopping.set()
        for thread in self.threads:
            thread.stop()

    def stop_on_signals(self) -> None:
        def on_stop(_number: int, _frame: FrameType | None) -> None:
            self.stop()

        signal.signal(signal.SIGTERM, on_stop)
        signal.signal(signal.SIGINT, on_stop)


def run() -> None:
    """Run a worker until a signal stops it."""
    # Keep connections: opening one costs more than a second's checks together.
    connection.settings_dict["CONN_MAX_AGE"] = None
    worker = Worker()
    worker.stop_on_signals()
    tracing.start()
    worker.run()
    tracing.stop()

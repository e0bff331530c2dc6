"""Writes what a process has counted in memory, once a minute and once more when the process ends."""

import os
import threading
from collections.abc import Callable
from multiprocessing.util import Finalize

import structlog
from django.db import connection

log = structlog.get_logger(__name__)

# Seconds between two writes. A process that is killed loses as much.
FLUSH_SECONDS = 60.0


class EachMinute:
    """Calls `flush` in a thread of its own, from `start` on. A forked process has neither the thread nor, after
    `forget`, the counts, which belong to its parent."""

    def __init__(self, name: str, flush: Callable[[], None], forget: Callable[[], None]) -> None:
        self.name, self.flush, self.forget = name, flush, forget
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                    self._thread.start()
                    # Unlike atexit, this runs also in child processes of multiprocessing, as the server's are.
                    Finalize(None, self.flush, exitpriority=0)

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(FLUSH_SECONDS):
            try:
                self.flush()
            except Exception:
                log.exception("counts_not_written", counts=self.name)
            finally:
                # Not kept open for a minute: web processes have enough connections.
                connection.close()

    def _reset_after_fork(self) -> None:
        self._lock, self._thread = threading.Lock(), None
        self.forget()

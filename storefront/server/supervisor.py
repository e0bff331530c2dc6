"""Keeps the web server and the background worker running side by side, and stops both together.

Both are forked from the supervising process, which has loaded all modules: that takes longer than the rest of a start.
This process must have no database connections and no threads when it forks.
"""

import multiprocessing
import signal
import time
from collections.abc import Callable, Sequence
from threading import Event

import structlog
from setproctitle import setproctitle

log = structlog.get_logger(__name__)

PROCESSES = multiprocessing.get_context("fork")
STOPPING = (signal.SIGTERM, signal.SIGINT)

# Seconds after a stop signal until processes that still run are killed.
STOP_GRACE_SECONDS = 10
# Seconds between checks of the children.
POLL_SECONDS = 0.25
# Seconds at most before a child is started again.
MAX_RESTART_PAUSE_SECONDS = 30.0
# A child that ran for this many seconds was healthy: when it ends, it is started again after a second.
HEALTHY_AFTER_SECONDS = 60


class Child:
    """A child process, which is restarted when it ends, after pauses that grow while it keeps ending early."""

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self.name, self.work = name, work
        self.pause = 1.0
        self.start()

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = PROCESSES.Process(target=_run, args=(self.name, self.work))
        self.process.start()
        self.restart_at: float | None = None

    def has_ended(self) -> bool:
        return not self.process.is_alive()

    def restart_if_due(self) -> None:
        """Restart the process if it has ended and its pause is over."""
        if not self.has_ended():
            return
        now = time.monotonic()
        if self.restart_at is None:
            self.pause = (
                1.0 if now - self.started > HEALTHY_AFTER_SECONDS else min(self.pause * 2, MAX_RESTART_PAUSE_SECONDS)
            )
            self.restart_at = now + self.pause
            log.error("child_ended", child=self.name, exit=self.process.exitcode, again_in_seconds=self.pause)
        elif now >= self.restart_at:
            self.start()

    def stop(self, deadline: float) -> None:
        """Wait for the end of the process until `deadline` (`time.monotonic()`), then kill it."""
        self.process.join(max(deadline - time.monotonic(), 0))
        if self.process.is_alive():
            log.warning("child_killed", child=self.name)
            self.process.kill()
            self.process.join()


def _run(name: str, work: Callable[[], object]) -> None:
    # Until `work` sets its own handlers, a signal must end this process, not call the inherited handlers of the parent.
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    setproctitle(f"storefront {name}")
    work()


def supervise(web: Callable[[], object], worker: Callable[[], object] | None) -> int:
    """Run both until SIGTERM or SIGINT, and return 0, or until the web server ends by itself, and return 1."""
    stopping = Event()
    for number in STOPPING:
        signal.signal(number, lambda *_: stopping.set())
    children = [Child("web", web)]
    if worker:
        children.append(Child("worker", worker))
    while not stopping.wait(POLL_SECONDS) and not children[0].has_ended():
        for child in children[1:]:
            child.restart_if_due()
    return stop_all(children, code=0 if stopping.is_set() else 1)


def stop_all(children: Sequence[Child], code: int) -> int:
    """Stop all children within STOP_GRACE_SECONDS. Returns the exit code that was passed."""
    deadline = time.monotonic() + STOP_GRACE_SECONDS
    for child in children:
        if not child.has_ended():
            child.process.terminate()
    for child in children:
        child.stop(deadline)
    return code

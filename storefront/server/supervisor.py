"""Keeps the web server and the background worker running side by side, and stops both together.

Both are forked from the process that watches them: it has all modules loaded, which takes longer than all the rest of
a start. Nothing may hold a connection or a thread here.
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

# Seconds from being told to stop until what still runs is killed.
GRACE = 10
# Seconds between looks at the children.
PULSE = 0.25
LONGEST_PAUSE = 30.0
# A child that ran this many seconds is thought healthy: it is started again at once when it ends.
HEALTHY = 60


class Child:
    """One process, started again by whoever watches it, after pauses that grow while it keeps ending early."""

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self.name, self.work = name, work
        self.pause = 1.0
        self.start()

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = PROCESSES.Process(target=_run, args=(self.name, self.work))
        self.process.start()
        self.due: float | None = None

    def has_ended(self) -> bool:
        return not self.process.is_alive()

    def revive(self) -> None:
        """Start again when it has ended and its pause is over."""
        if not self.has_ended():
            return
        now = time.monotonic()
        if self.due is None:
            self.pause = 1.0 if now - self.started > HEALTHY else min(self.pause * 2, LONGEST_PAUSE)
            self.due = now + self.pause
            log.error("child_ended", child=self.name, exit=self.process.exitcode, again_in_seconds=self.pause)
        elif now >= self.due:
            self.start()

    def stop(self, deadline: float) -> None:
        self.process.join(max(deadline - time.monotonic(), 0))
        if self.process.is_alive():
            log.warning("child_killed", child=self.name)
            self.process.kill()
            self.process.join()


def _run(name: str, work: Callable[[], object]) -> None:
    # Until the work sets up its own, a signal must end this process, not speak to the parent's copy here.
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    setproctitle(f"storefront {name}")
    work()


def supervise(web: Callable[[], object], worker: Callable[[], object] | None) -> int:
    """Run both until SIGTERM or SIGINT, or until the web server gives up: 0 and 1."""
    told_to_stop = Event()
    for number in STOPPING:
        signal.signal(number, lambda *_: told_to_stop.set())
    children = [Child("web", web)]
    if worker:
        children.append(Child("worker", worker))
    while not told_to_stop.wait(PULSE) and not children[0].has_ended():
        for child in children[1:]:
            child.revive()
    return stop_all(children, code=0 if told_to_stop.is_set() else 1)


def stop_all(children: Sequence[Child], code: int) -> int:
    deadline = time.monotonic() + GRACE
    for child in children:
        if not child.has_ended():
            child.process.terminate()
    for child in children:
        child.stop(deadline)
    return code

"""Keeps the web server and the background worker running side by side, and stops both together."""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from threading import Event

import structlog

log = structlog.get_logger(__name__)

# Seconds from being told to stop until what still runs is killed.
GRACE = 10
# Seconds between looks at the children.
PULSE = 0.25
LONGEST_PAUSE = 30.0
# A child that ran this many seconds is thought healthy: it is started again at once when it ends.
HEALTHY = 60


class Child:
    """One process, started again by whoever watches it, after pauses that grow while it keeps ending early."""

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        self.name = name
        self.command = [sys.executable, "-m", *arguments]
        self.pause = 1.0
        self.start()

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL)  # noqa: S603, our own modules
        self.due: float | None = None

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def revive(self) -> None:
        """Start again when it has ended and its pause is over."""
        if not self.has_ended():
            return
        now = time.monotonic()
        if self.due is None:
            self.pause = 1.0 if now - self.started > HEALTHY else min(self.pause * 2, LONGEST_PAUSE)
            self.due = now + self.pause
            log.error("child_ended", child=self.name, exit=self.process.returncode, again_in_seconds=self.pause)
        elif now >= self.due:
            self.start()

    def stop(self, deadline: float) -> None:
        try:
            self.process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            log.warning("child_killed", child=self.name)
            self.process.kill()
            self.process.wait()


def supervise(web: Sequence[str], worker: Sequence[str] | None) -> int:
    """Run until SIGTERM or SIGINT, or until the web server gives up; its exit code then, 0 otherwise."""
    told_to_stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
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

"""Keeps the web server and the background worker running side by side, stops both together, and on SIGHUP replaces both
by those of a new start (`reloading.py`). If this process is killed, both stop (`lifeline.py`).

Both are forked from the supervising process, which has loaded all modules: that takes longer than the rest of a start.
This process must have no database connections and no threads when it forks.
"""

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Event

import structlog
from setproctitle import setproctitle

from storefront.server import reloading
from storefront.server.lifeline import Lifeline

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

    def __init__(self, name: str, work: Callable[[], object], lifeline: Lifeline) -> None:
        self.name, self.work, self.lifeline = name, work, lifeline
        self.pause = 1.0
        self.start()

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = PROCESSES.Process(target=_run, args=(self.name, self.work, self.lifeline))
        # A signal that comes before the child has its own handlers waits until then.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        self.process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
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


def _run(name: str, work: Callable[[], object], lifeline: Lifeline) -> None:
    # Until `work` sets its own handlers, a signal must end this process, not call the inherited handlers of the parent.
    for number in STOPPING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    # That a terminal was closed, or that a new release starts, is this process's parent's business.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    lifeline.follow(STOP_GRACE_SECONDS)
    setproctitle(f"storefront {name}")
    work()


class Supervisor:
    """Runs all until SIGTERM or SIGINT, or until the web server ends by itself. `web` is passed what it must call when
    a process of it accepts connections, of which there will be `processes`."""

    def __init__(
        self,
        web: Callable[[Callable[[], object]], object],
        worker: Callable[[], object] | None,
        metrics: Callable[[], object] | None = None,
        *,
        listening: socket.socket,
        processes: int,
    ) -> None:
        self.web, self.processes = web, processes
        self.others = {"worker": worker, "metrics": metrics}
        self.listening = listening
        self.stopping, self.asked_to_reload = Event(), Event()
        self.lifeline = Lifeline()
        self.previous = reloading.take_previous()
        self.check: reloading.Check | None = None
        self.ready, self.say_ready = os.pipe()
        os.set_blocking(self.ready, False)
        for number in STOPPING:
            signal.signal(number, lambda *_: self.stopping.set())
        # A closed terminal sends the same signal.
        on_hangup = self.stopping if os.isatty(2) else self.asked_to_reload
        signal.signal(signal.SIGHUP, lambda *_: on_hangup.set())

    def run(self) -> int:
        """Returns 0 after a stop signal, 1 if the web server ended by itself."""
        children = [Child("web", self._run_web, self.lifeline)]
        for name, work in self.others.items():
            if work:
                children.append(Child(name, partial(self._run_beside, work), self.lifeline))
        while not self.stopping.wait(POLL_SECONDS) and not children[0].has_ended():
            for child in children[1:]:
                child.restart_if_due()
            self._stop_previous_if_ready()
            self._reload_if_asked(children)
        self.listening.close()
        stop_all(children, STOP_GRACE_SECONDS)
        return 0 if self.stopping.is_set() else 1

    def _run_web(self) -> None:
        self._leave_previous()
        self.web(lambda: os.write(self.say_ready, b"."))

    def _run_beside(self, work: Callable[[], object]) -> None:
        self._leave_previous()
        self.listening.close()
        work()

    def _leave_previous(self) -> None:
        """In a child: let go of the lifeline of the program that was replaced, which its parent still holds."""
        if self.previous:
            self.previous.stop()

    def _stop_previous_if_ready(self) -> None:
        with suppress(BlockingIOError):
            self.processes -= len(os.read(self.ready, self.processes)) if self.processes > 0 else 0
        if self.previous:
            if self.processes <= 0:
                self.previous.stop()
            if self.previous.has_ended():
                self.previous = None

    def _reload_if_asked(self, children: Sequence[Child]) -> None:
        """Start this program again, in the same process, if it could start now. Its processes stay until the new ones
        accept connections."""
        if self.check is None:
            if self.asked_to_reload.is_set() and self.previous is None and self.processes <= 0:
                self.asked_to_reload.clear()
                self.check = reloading.Check()
        elif (is_well := self.check.result()) is not None:
            self.check = None
            if is_well:
                log.info("reloading")
                reloading.start_anew(self.listening, self.lifeline, [child.process.pid for child in children])
            else:
                log.error("not_reloaded", reason="A new start would fail. See its messages above.")


def stop_all(children: Sequence[Child], seconds: float) -> None:
    """Stop all children; kill those that take longer than these seconds."""
    deadline = time.monotonic() + seconds
    for child in children:
        if not child.has_ended():
            child.process.terminate()
    for child in children:
        child.stop(deadline)

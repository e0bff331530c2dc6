"""What this process knows of the primary and its replicas: a thread for each of them asks it four times a second.

A read needs what the primary had MAX_LAG_SECONDS ago at least, by its position then, so nothing that is read is older.
A replica that is late, promoted, away or not one of this primary is left out until it is well again. One that stops
answering has its open reads ended, which then go to the primary.
"""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import connections

from storefront.kit.direct import direct_copy
from storefront.kit.replicas.asking import Answer, ask, connect

log = structlog.get_logger(__name__)

# Seconds between two questions, in which each must be answered, and before a lost connection is opened again.
INTERVAL_SECONDS, DEADLINE_SECONDS, RETRY_SECONDS = 0.25, 1.0, 0.5
# A replica that lags by more is left out.
MAX_LAG_SECONDS, MAX_LAG_BYTES = 2.0, 64 * 1024**2
# Positions of the primary that are remembered: those of a minute.
MAX_SAMPLES = 240
# The watching connections' name in pg_stat_activity.
NAME = "storefront replicas"

UNASKED = "it has not been asked yet"
FORKED = "it does not follow the primary: their timelines are {own} and {primary}"
PROMOTED = "it is no longer a replica: it was promoted"
FOREIGN = "it is no replica of DATABASE_URL's database: the system identifier or the database is another"
UNMEASURED = "the primary's position is not known"
LATE = "it is {seconds:.1f} s or {bytes} bytes late"


class Primary:
    """`samples` are times of the monotonic clock, and positions that the primary had then or later."""

    def __init__(self) -> None:
        self.samples: deque[tuple[float, int]] = deque(maxlen=MAX_SAMPLES)
        self.identity, self.timeline = "", 0

    def parameters(self) -> dict[str, Any]:
        return direct_copy(connections["default"]).get_connection_params()

    def record(self, answer: Answer, asked_at: float) -> None:
        if (self.identity, self.timeline) != (answer.identity, answer.timeline) or answer.is_replica:
            self.samples.clear()
        self.identity, self.timeline = answer.identity, answer.timeline
        if not answer.is_replica:
            self.samples.append((asked_at, answer.position))

    def leave_out(self, reason: str) -> None:
        """Forget the positions: after a failover they may be those of another history."""
        self.samples.clear()
        log.warning("primary_not_measured", reason=reason)

    def floor(self) -> int | None:
        """A position with everything that was committed MAX_LAG_SECONDS ago; None if it is not known."""
        oldest = time.monotonic() - MAX_LAG_SECONDS
        return next((position for at, position in list(self.samples) if at >= oldest), None)

    def lag(self, position: int) -> tuple[float, int] | None:
        """How late a replica with this position is, in seconds and bytes; None if it is not known."""
        samples = list(self.samples)
        if not samples:
            return None
        replayed_at = max((at for at, sampled in samples if sampled <= position), default=samples[0][0] - 60)
        is_current = samples[-1][1] <= position
        return 0.0 if is_current else time.monotonic() - replayed_at, max(samples[-1][1] - position, 0)


class Replica:
    """`trouble` is why it is left out; empty while it is well."""

    def __init__(self, alias: str, primary: Primary) -> None:
        self.alias, self.primary = alias, primary
        self.trouble, self.position, self.lag_seconds, self.lag_bytes = UNASKED, -1, 0.0, 0
        self.lock = threading.Lock()
        self.sockets: set[socket.socket] = set()

    def parameters(self) -> dict[str, Any]:
        return connections[self.alias].copy().get_connection_params()

    def record(self, answer: Answer, _asked_at: float) -> None:
        self.position = answer.position
        self._set_trouble(self._trouble(answer))

    def leave_out(self, reason: str) -> None:
        """Leave it out until it answers again, and end its open reads."""
        self._set_trouble(f"it is away: {reason}")
        with self.lock:
            for each in self.sockets:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def interruptible(self, descriptor: int) -> Iterator[None]:
        """Let `leave_out` end what waits for the connection with this descriptor meanwhile."""
        # A descriptor of its own, since the number of a closed one is given to others.
        own = socket.socket(fileno=os.dup(descriptor))
        with self.lock:
            self.sockets.add(own)
        try:
            yield
        finally:
            with self.lock:
                self.sockets.discard(own)
            own.close()

    def _trouble(self, answer: Answer) -> str:
        lag = self.primary.lag(answer.position)
        if lag is None:
            return UNMEASURED
        if answer.identity != self.primary.identity:
            return FOREIGN
        if not answer.is_replica:
            return PROMOTED
        if answer.timeline != self.primary.timeline:
            return FORKED.format(own=answer.timeline, primary=self.primary.timeline)
        self.lag_seconds, self.lag_bytes = lag
        is_late = self.lag_seconds > MAX_LAG_SECONDS or self.lag_bytes > MAX_LAG_BYTES
        return LATE.format(seconds=self.lag_seconds, bytes=self.lag_bytes) if is_late else ""

    def _set_trouble(self, trouble: str) -> None:
        before, self.trouble = self.trouble, trouble
        if trouble and not before:
            log.warning("replica_left_out", replica=self.alias, reason=trouble)
        elif before and not trouble:
            log.info("replica_in_use", replica=self.alias)


class Watch:
    """All servers of this process, each with its thread."""

    def __init__(self) -> None:
        self.primary = Primary()
        self.replicas = [Replica(alias, self.primary) for alias in settings.REPLICAS]
        self.stopped = threading.Event()
        servers: list[Primary | Replica] = [self.primary, *self.replicas]
        self.threads = [
            threading.Thread(target=self._run, args=[each, each.parameters()], name=NAME, daemon=True)
            for each in servers
        ]
        for thread in self.threads:
            thread.start()

    def _run(self, server: Primary | Replica, parameters: dict[str, Any]) -> None:
        while not self.stopped.is_set():
            try:
                self._ask_often(server, parameters | {"application_name": NAME})
            except (psycopg.Error, OSError) as error:
                server.leave_out(" ".join(str(error).split()))
                self.stopped.wait(RETRY_SECONDS)

    def _ask_often(self, server: Primary | Replica, parameters: dict[str, Any]) -> None:
        connection = connect(parameters)
        try:
            while not self.stopped.is_set():
                asked_at = time.monotonic()
                server.record(ask(connection, DEADLINE_SECONDS), asked_at)
                self.stopped.wait(INTERVAL_SECONDS)
        finally:
            connection.close()


_lock = threading.Lock()
_watch: Watch | None = None


def watch() -> Watch:
    """This process's watch, which the first call starts."""
    global _watch
    if _watch is None:
        with _lock:
            if _watch is None:
                _watch = Watch()
    return _watch


def start() -> None:
    """Begin to watch if there are replicas, so that the first reads find them."""
    if settings.REPLICAS:
        watch()


def stop() -> None:
    """End the threads, and their connections."""
    global _watch
    with _lock:
        ended, _watch = _watch, None
    if ended is not None:
        ended.stopped.set()
        for thread in ended.threads:
            thread.join()


def known() -> list[Replica]:
    """The replicas as far as this process knows; empty if it does not watch any."""
    return _watch.replicas if _watch else []


def _reset_after_fork() -> None:
    """A forked process inherits the variable, but not the threads."""
    global _watch, _lock
    _watch, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_reset_after_fork)

Needed = Callable[[], int | None]

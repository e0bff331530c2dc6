"""Tells other processes on PostgreSQL which shops have changed (`shops.changes`), after the commits and in batches.

A NOTIFY within a transaction makes all such transactions commit one after the other, which would limit all shops
together to a few hundred sales a second. So a thread with a connection of its own sends them. If the process is killed
between a commit and its notification, caches of other processes still drop their entries after
`changes.MAX_STALE_SECONDS`.
"""

import atexit
import os
import threading
import time

import psycopg
import structlog
from django.conf import settings
from django.db import connections

from storefront.kit.direct import direct_copy
from storefront.shops.position_sql import RECORD

log = structlog.get_logger(__name__)

CHANNEL = "storefront_changes"
# Seconds between two statements: after a quiet time a change is announced at once, in a busy one 20 times a second.
INTERVAL_SECONDS = 0.05
# Seconds before a lost connection is opened again.
RETRY_SECONDS = 0.2
# The longest time for which a change is announced: afterwards no cache has an older entry. A process that ends waits at
# most this long for its last notifications.
MAX_DELAY_SECONDS = 5.0
# The connection's name in pg_stat_activity.
NAME = "storefront announcer"


class Announcer(threading.Thread):
    """Sends notifications until it is stopped."""

    def __init__(self) -> None:
        super().__init__(name="announcer", daemon=True)
        # The time of the first announcement since the last statement, by channel and payload; and what is being sent.
        self.waiting: dict[tuple[str, str], float] = {}
        self.sending: dict[tuple[str, str], float] = {}
        self.condition = threading.Condition()
        # Set while nothing waits and nothing is being sent.
        self.idle = threading.Event()
        self.idle.set()
        self.is_stopped = False
        # When the last statement was sent, by the monotonic clock.
        self.sent_at = float("-inf")
        # Process id of the connection's server process.
        self.backend: int | None = None
        keepalives = {"application_name": NAME, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
        self.parameters = direct_copy(connections["default"]).get_connection_params() | keepalives

    def notify(self, channel: str, payload: str) -> None:
        with self.condition:
            self.idle.clear()
            self.waiting.setdefault((channel, payload), time.monotonic())
            self.condition.notify()

    def stop(self) -> None:
        """End the thread, and its connection."""
        with self.condition:
            self.is_stopped = True
            self.condition.notify()
        self.join()

    def run(self) -> None:
        while not self.is_stopped:
            try:
                with psycopg.connect(**self.parameters, autocommit=True) as connection:
                    self.backend = connection.info.backend_pid
                    while self._send(connection):
                        pass
            except (psycopg.Error, OSError) as error:
                log.warning("changes_unsaid", error=str(error).strip(), again_in_seconds=RETRY_SECONDS)
                time.sleep(RETRY_SECONDS)

    def _send(self, connection: psycopg.Connection) -> bool:
        """Wait for changes, and send them; returns whether there were any before the end. After an error, they are sent
        again by the next connection."""
        with self.condition:
            while not self.waiting:
                self.idle.set()
                if self.is_stopped:
                    return False
                self.condition.wait()
        time.sleep(max(0.0, self.sent_at + INTERVAL_SECONDS - time.monotonic()))
        self.sent_at = time.monotonic()
        with self.condition:
            batch, self.waiting = self.waiting, {}
            self.sending = batch
        current = [key for key, since in batch.items() if time.monotonic() - since < MAX_DELAY_SECONDS]
        columns = [[channel for channel, _ in current], [payload for _, payload in current]]
        try:
            if settings.REPLICAS and (shops := sorted(int(text) for channel, text in current if channel == CHANNEL)):
                # Before the notification: who reads because of it must read the change.
                connection.execute(RECORD, [shops])
            connection.execute("SELECT pg_notify(c, p) FROM unnest(%s::text[], %s::text[]) AS sent (c, p)", columns)
        except BaseException:
            with self.condition:
                self.waiting = self.waiting | batch
            raise
        finally:
            with self.condition:
                self.sending = {}
        return True


_start_lock = threading.Lock()
_announcer: Announcer | None = None


def announce(shop_id: int) -> None:
    """Tell other processes soon that the shop has changed. Returns at once."""
    notify(CHANNEL, str(shop_id))


def notify(channel: str, payload: str = "") -> None:
    """Send a notification soon. Returns at once."""
    global _announcer
    if _announcer is None:
        with _start_lock:
            if _announcer is None:
                announcer = Announcer()
                announcer.start()
                _announcer = announcer
    _announcer.notify(channel, payload)


def is_own(backend: int) -> bool:
    """Returns True if this process sent a notification that came from this server process."""
    return _announcer is not None and _announcer.backend == backend


def is_waiting(shop_id: int) -> bool:
    """Returns True if a change of the shop in this process is not announced yet."""
    announcer, key = _announcer, (CHANNEL, str(shop_id))
    if announcer is None:
        return False
    with announcer.condition:
        return key in announcer.waiting or key in announcer.sending


def flush(timeout: float = MAX_DELAY_SECONDS) -> bool:
    """Wait until everything is sent, for at most `timeout` seconds. Returns False if it is not."""
    return _announcer is None or _announcer.idle.wait(timeout)


def stop() -> None:
    """Stop this process's announcer; the next change starts another one."""
    global _announcer
    with _start_lock:
        if _announcer is not None:
            _announcer.stop()
            _announcer = None


def _reset_after_fork() -> None:
    """A forked process inherits the variable, but not the thread."""
    global _announcer, _start_lock
    _announcer, _start_lock = None, threading.Lock()


atexit.register(flush)
os.register_at_fork(after_in_child=_reset_after_fork)

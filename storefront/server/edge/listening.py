"""A thread of each web process that learns of other processes' changes (`shops.changes`) within 100 ms.

PostgreSQL: its own connection LISTENs. From time to time it must hear a notification of its own process, or it reports
that it hears nothing. SQLite: a read-only connection checks 20 times a second whether the file was written to, and only
then reads which shops changed. Without a connection, cached entries still expire after `changes.MAX_STALE_SECONDS`.
"""

import os
import secrets
import selectors
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing

import psycopg
import structlog
from django.conf import settings
from django.db import connections

from storefront.kit.direct import direct_copy
from storefront.shops import announcing, changes

log = structlog.get_logger(__name__)

# Seconds between two checks of an SQLite database.
POLL_SECONDS = 0.05
# Seconds before a lost connection is opened again; they double with each failure.
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 5.0
# Seconds between two notifications that the process sends to itself, and in which each must arrive.
BEAT_SECONDS, BEAT_DEADLINE_SECONDS = 10.0, 5.0
# The connection's name in pg_stat_activity.
NAME = "storefront listener"


class Unheard(OSError):
    """Notifications do not arrive."""

    def __init__(self) -> None:
        super().__init__(f"no notification arrived within {BEAT_DEADLINE_SECONDS:.0f} s. {_advice()}")


def _advice() -> str:
    if settings.DATABASE_DIRECT is None:
        return "Behind a PgBouncer that pools transactions, set STOREFRONT_PGBOUNCER and DATABASE_DIRECT_URL."
    return "DATABASE_DIRECT_URL must lead to PostgreSQL itself, and not to PgBouncer."


class Listener(threading.Thread):
    """Records other processes' changes until it is stopped. It reconnects when the connection is lost."""

    def __init__(self) -> None:
        super().__init__(name="changes", daemon=True)
        self.stopped = threading.Event()
        # `stop` writes to it, which wakes the thread while it waits for the database's socket.
        self.stop_sender, self.stop_receiver = socket.socketpair()
        # Set while changes are heard.
        self.connected = threading.Event()
        # When something was heard last, in Unix seconds.
        self.heard_at = 0.0
        database = connections["default"]
        self.pause = MIN_RETRY_SECONDS
        self.listen: Callable[[], None] = self._poll_sqlite
        if database.vendor == "postgresql":
            self.listen = self._listen_to_postgresql
            self.parameters = direct_copy(database).get_connection_params()
            self.own_channel = f"storefront_listener_{secrets.token_hex(8)}"
        else:
            self.path = str(database.settings_dict["NAME"])

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                self.listen()
            except (psycopg.Error, sqlite3.Error, OSError) as error:
                log.warning("changes_unheard", error=str(error).strip(), again_in_seconds=self.pause)
                self.connected.clear()
                self.stopped.wait(self.pause)
                self.pause = min(self.pause * 2, MAX_RETRY_SECONDS)

    def stop(self) -> None:
        self.stopped.set()
        self.stop_sender.send(b"!")
        self.join()
        self.stop_sender.close()
        self.stop_receiver.close()

    def _on_connected(self) -> None:
        self.pause, self.heard_at = MIN_RETRY_SECONDS, time.time()
        # Changes from before this connection may have been missed.
        changes.record_change_of_all()
        self.connected.set()

    def _listen_to_postgresql(self) -> None:
        # Without keepalives, a connection that the server lost without closing it would stay silent for ever.
        alive = {"application_name": NAME, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
        with psycopg.connect(**self.parameters | alive, autocommit=True) as connection:
            for channel in (announcing.CHANNEL, self.own_channel):
                connection.execute(f"LISTEN {channel}")
            with selectors.DefaultSelector() as selector:
                selector.register(connection, selectors.EVENT_READ)
                selector.register(self.stop_receiver, selectors.EVENT_READ)
                # A notification that this process sends to itself shows that others' would arrive.
                is_heard, due = True, time.monotonic()
                while not self.stopped.is_set():
                    if selector.select(max(0.0, due - time.monotonic())):
                        connection.pgconn.consume_input()
                        self.heard_at = time.time()
                    if self._record_notifications(connection):
                        is_heard, due = True, time.monotonic() + BEAT_SECONDS
                        if not self.connected.is_set():
                            self._on_connected()
                    if time.monotonic() >= due:
                        if not is_heard:
                            raise Unheard
                        announcing.notify(self.own_channel)
                        is_heard, due = False, time.monotonic() + BEAT_DEADLINE_SECONDS

    def _record_notifications(self, connection: psycopg.Connection) -> bool:
        """Record the changes that have arrived. Returns True if the process's own notification is among them."""
        is_heard = False
        while notification := connection.pgconn.notifies():
            if notification.relname == self.own_channel.encode():
                is_heard = True
            # This process recorded its own changes when they were committed.
            elif not announcing.is_own(notification.be_pid):
                changes.record_change(int(notification.extra))
        return is_heard

    def _poll_sqlite(self) -> None:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)) as connection:

            def query(sql: str, *params: int) -> list[tuple[int, ...]]:
                return connection.execute(sql, params).fetchall()

            seen = query("PRAGMA data_version")
            last = query("SELECT coalesce(max(number), 0) FROM shops_change")[0][0]
            self._on_connected()
            while not self.stopped.wait(POLL_SECONDS):
                self.heard_at = time.time()
                if seen != (seen := query("PRAGMA data_version")):
                    for shop_id, number in query("SELECT shop_id, number FROM shops_change WHERE number > ?", last):
                        changes.record_change(shop_id)
                        last = max(last, number)


_start_lock = threading.Lock()
_listener: Listener | None = None


def start() -> None:
    """Start this process's listener unless it runs. A web process calls it with each request."""
    global _listener
    if _listener is None:
        with _start_lock:
            if _listener is None:
                _listener = Listener()
                _listener.start()


def is_connected(wait: float = 0) -> bool:
    """Whether this process learns of others' changes. Waits for it up to this many seconds."""
    listener = _listener
    return listener is not None and listener.connected.wait(wait)


def heard_at() -> float:
    """When this process's listener last heard from the database, in Unix seconds; 0 if it never has."""
    listener = _listener
    return listener.heard_at if listener else 0.0


def stop() -> None:
    """Stop the listener, and wait until its thread has ended."""
    global _listener
    with _start_lock:
        if _listener is not None:
            _listener.stop()
            _listener = None


def _reset_after_fork() -> None:
    """A forked process inherits the variable, but not the thread."""
    global _listener, _start_lock
    _listener, _start_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_reset_after_fork)

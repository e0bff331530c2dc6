"""A thread of each web process that learns of other processes' changes (`shops.changes`) within 100 ms.

PostgreSQL: its own connection LISTENs. SQLite: a read-only connection checks 20 times a second whether the file was
written to, and only then reads which shops changed. Without a connection, cached entries still expire after
`changes.MAX_STALE_SECONDS`.
"""

import os
import selectors
import socket
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing

import psycopg
import structlog
from django.db import connections

from storefront.shops import announcing, changes

log = structlog.get_logger(__name__)

# Seconds between two checks of an SQLite database.
POLL_SECONDS = 0.05
# Seconds before a lost connection is opened again; they double with each failure.
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 5.0
# The connection's name in pg_stat_activity.
NAME = "storefront listener"


class Listener(threading.Thread):
    """Records other processes' changes until it is stopped. It reconnects when the connection is lost."""

    def __init__(self) -> None:
        super().__init__(name="changes", daemon=True)
        self.stopped = threading.Event()
        # `stop` writes to it, which wakes the thread while it waits for the database's socket.
        self.stop_sender, self.stop_receiver = socket.socketpair()
        # Set while there is a connection.
        self.connected = threading.Event()
        settings = connections["default"]
        self.pause = MIN_RETRY_SECONDS
        self.listen: Callable[[], None] = self._poll_sqlite
        if settings.vendor == "postgresql":
            self.listen = self._listen_to_postgresql
            self.parameters = settings.get_connection_params()
        else:
            self.path = str(settings.settings_dict["NAME"])

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
        self.pause = MIN_RETRY_SECONDS
        # Changes from before this connection may have been missed.
        changes.record_change_of_all()
        self.connected.set()

    def _listen_to_postgresql(self) -> None:
        # Without keepalives, a connection that the server lost without closing it would stay silent for ever.
        alive = {"application_name": NAME, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
        with psycopg.connect(**self.parameters | alive, autocommit=True) as connection:
            connection.execute(f"LISTEN {announcing.CHANNEL}")
            self._on_connected()
            with selectors.DefaultSelector() as selector:
                selector.register(connection, selectors.EVENT_READ)
                selector.register(self.stop_receiver, selectors.EVENT_READ)
                while selector.select() and not self.stopped.is_set():
                    connection.pgconn.consume_input()
                    while notification := connection.pgconn.notifies():
                        # This process recorded its own changes when they were committed.
                        if not announcing.is_own(notification.be_pid):
                            changes.record_change(int(notification.extra))

    def _poll_sqlite(self) -> None:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)) as connection:

            def query(sql: str, *params: int) -> list[tuple[int, ...]]:
                return connection.execute(sql, params).fetchall()

            seen = query("PRAGMA data_version")
            last = query("SELECT coalesce(max(number), 0) FROM shops_change")[0][0]
            self._on_connected()
            while not self.stopped.wait(POLL_SECONDS):
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

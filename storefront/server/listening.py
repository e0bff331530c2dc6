"""A thread of each web process that hears of other processes' changes (`shops.changes`) within 100 ms.

PostgreSQL: a connection of its own that LISTENs. SQLite: a read-only connection that asks 20 times a second whether
anybody wrote, and only then which shops changed. While neither can be had, what is remembered still ends after
`changes.LONGEST`.
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

from storefront.shops import changes

log = structlog.get_logger(__name__)

# Seconds between two looks at an SQLite database.
PULSE = 0.05
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
# What the connection is called in pg_stat_activity.
NAME = "storefront listener"


class Listener(threading.Thread):
    """Notes changes until it is stopped; a lost connection is made again, after pauses that grow while it fails."""

    def __init__(self) -> None:
        super().__init__(name="changes", daemon=True)
        self.stopped = threading.Event()
        # Written to when it is time to stop, which wakes a thread that waits for the database's socket.
        self.bell, self.ear = socket.socketpair()
        # Set while a connection stands.
        self.hears = threading.Event()
        settings = connections["default"]
        self.pause = SHORTEST_PAUSE
        self.listen: Callable[[], None] = self._to_sqlite
        if settings.vendor == "postgresql":
            self.listen = self._to_postgresql
            self.parameters = settings.get_connection_params()
        else:
            self.path = str(settings.settings_dict["NAME"])

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                self.listen()
            except (psycopg.Error, sqlite3.Error, OSError) as error:
                log.warning("changes_unheard", error=str(error).strip(), again_in_seconds=self.pause)
                self.hears.clear()
                self.stopped.wait(self.pause)
                self.pause = min(self.pause * 2, LONGEST_PAUSE)

    def stop(self) -> None:
        self.stopped.set()
        self.bell.send(b"!")
        self.join()
        self.bell.close()
        self.ear.close()

    def _begin(self) -> None:
        self.pause = SHORTEST_PAUSE
        # Whatever happened before this connection stood was not heard.
        changes.note_all()
        self.hears.set()

    def _to_postgresql(self) -> None:
        # Half a connection, which nobody closed, would be silent for ever.
        alive = {"application_name": NAME, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 2}
        with psycopg.connect(**self.parameters | alive, autocommit=True) as connection:
            connection.execute(f"LISTEN {changes.CHANNEL}")
            self._begin()
            with selectors.DefaultSelector() as selector:
                selector.register(connection, selectors.EVENT_READ)
                selector.register(self.ear, selectors.EVENT_READ)
                while selector.select() and not self.stopped.is_set():
                    connection.pgconn.consume_input()
                    while news := connection.pgconn.notifies():
                        changes.note(int(news.extra))

    def _to_sqlite(self) -> None:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)) as connection:

            def ask(question: str, *given: int) -> list[tuple[int, ...]]:
                return connection.execute(question, given).fetchall()

            seen = ask("PRAGMA data_version")
            last = ask("SELECT coalesce(max(number), 0) FROM shops_change")[0][0]
            self._begin()
            while not self.stopped.wait(PULSE):
                if seen != (seen := ask("PRAGMA data_version")):
                    for shop_id, number in ask("SELECT shop_id, number FROM shops_change WHERE number > ?", last):
                        changes.note(shop_id)
                        last = max(last, number)


_starting = threading.Lock()
_listener: Listener | None = None


def start() -> None:
    """Have a listener in this process; a web process calls it with each request."""
    global _listener
    if _listener is None:
        with _starting:
            if _listener is None:
                _listener = Listener()
                _listener.start()


def hears(wait: float = 0) -> bool:
    """Whether this process hears of others' changes, by now or at the latest after so many seconds."""
    listener = _listener
    return listener is not None and listener.hears.wait(wait)


def stop() -> None:
    """End the listener, and wait until it has ended."""
    global _listener
    with _starting:
        if _listener is not None:
            _listener.stop()
            _listener = None


def _forget() -> None:
    """A forked process has the variable and not the thread."""
    global _listener, _starting
    _listener, _starting = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)

"""A thread of each web process that learns of other processes' changes (`shops.changes`) within 100 ms, by the
database's `Source`. Without a connection, cached entries still expire after `changes.MAX_STALE_SECONDS`.
"""

import os
import socket
import threading
import time

import structlog

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.shops import changes

if IS_POSTGRESQL:
    from storefront.server.edge.postgresql import Source
else:
    from storefront.server.edge.sqlite import Source  # type: ignore[assignment]

log = structlog.get_logger(__name__)

# Seconds before a lost connection is opened again; they double with each failure.
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 5.0


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
        self.pause = MIN_RETRY_SECONDS
        self.source = Source()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                self.source.listen(self)
            except (*self.source.errors, OSError) as error:
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

    def on_connected(self) -> None:
        """The source calls it when changes are heard from now on."""
        self.pause, self.heard_at = MIN_RETRY_SECONDS, time.time()
        # Changes from before this connection may have been missed.
        changes.record_change_of_all()
        self.connected.set()


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

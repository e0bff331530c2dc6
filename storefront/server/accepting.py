"""The socket that the web processes accept connections from, and how it passes from one start to the next.

All web processes share one listening socket. So nobody who connects is refused or lost while some of them end and
others start: connections wait in the socket until a process accepts them. A start of the same deployment gets the
socket of the running one through a Unix socket in the data directory, and both accept from it until the older one is
stopped.
"""

import errno
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

import structlog

from storefront.server.command import Failed

log = structlog.get_logger(__name__)

BACKLOG = 1024
# Seconds for which a start waits for a port that an earlier one of this deployment holds: until that hands it over, or
# its processes notice that their supervisor was killed.
MAX_WAIT_SECONDS = 10.0


def handover_path(directory: Path, host: str, port: int) -> Path:
    """Where a start of the deployment with this data directory hands over the socket for this address."""
    return directory / f"serve-{host.replace('/', '')}-{port}.sock"


def open_listening(host: str, port: int, path: Path) -> socket.socket:
    """The listening socket for this address, new or handed over at this path. Raises Failed if another program has the
    port."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        may_wait = path.exists() and time.monotonic() < deadline
        if listening := _receive(path) or _bind(host, port, may_wait=may_wait):
            return listening
        time.sleep(0.1)


def _bind(host: str, port: int, *, may_wait: bool) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        if may_wait and error.errno == errno.EADDRINUSE:
            return None
        raise Failed(
            f"Cannot listen on {host}, port {port}: {os.strerror(error.errno or 0)}. "
            "Choose another: --port, or PORT=... for make run."
        ) from None


def _receive(path: Path) -> socket.socket | None:
    """The socket of the running start, or None if there is none."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(MAX_WAIT_SECONDS)
        asking.connect(str(path))
        _, descriptors, *_ = socket.recv_fds(asking, 1, 1)
        if descriptors:
            return socket.socket(fileno=descriptors[0])
    return None


class Handover:
    """Gives the listening socket to the next start of this deployment."""

    def __init__(self, path: Path, listening: socket.socket) -> None:
        self.path, self.listening = path, listening
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        self.asked = socket.socket(socket.AF_UNIX)
        self.asked.bind(str(draft))
        self.asked.listen()
        self.asked.setblocking(False)
        self.inode = draft.stat().st_ino
        draft.replace(path)

    @classmethod
    def of(cls, path: Path, listening: socket.socket) -> "Handover | None":
        try:
            return cls(path, listening)
        except OSError as error:
            # Such as a path that is too long for a Unix socket. The next start must wait for the end of this one.
            log.warning("no_handover", path=str(path), error=str(error))
            return None

    def answer(self) -> None:
        """Give the socket to those who have asked since the last call."""
        with suppress(BlockingIOError, ConnectionError):
            while True:
                connection, _ = self.asked.accept()
                with connection:
                    socket.send_fds(connection, [b"1"], [self.listening.fileno()])

    def close(self) -> None:
        """Stop answering. The path stays if it is the next start's by now."""
        self.asked.close()
        with suppress(OSError):
            if self.path.stat().st_ino == self.inode:
                self.path.unlink()


def stop_accepting(listening: socket.socket) -> None:
    """Accept no more connections in this process; others that share the socket still do.

    The server has no way to stop accepting and keep its connections. So the socket's descriptor is replaced by that of
    a socket that nobody connects to.
    """
    with socket.socket(listening.family) as silent:
        silent.bind(("::1" if listening.family == socket.AF_INET6 else "127.0.0.1", 0))
        silent.listen(1)
        silent.setblocking(False)
        os.dup2(silent.fileno(), listening.fileno())

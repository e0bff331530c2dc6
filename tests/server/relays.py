"""A TCP relay in front of another server, such as a database, which can be stalled: connections stay open, and nothing
comes through."""

import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CHUNK = 64 * 1024


class Relay:
    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_open = threading.Event()
        self.is_open.set()
        self.sockets: list[socket.socket] = [self.listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        self.is_open.clear()

    def resume(self) -> None:
        self.is_open.set()

    def close(self) -> None:
        self.resume()
        for each in self.sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self.listener.accept()
                threading.Thread(target=self._relay, args=(caller,), daemon=True).start()

    def _relay(self, caller: socket.socket) -> None:
        self.is_open.wait()
        with suppress(OSError, ValueError), caller, socket.create_connection(self.target) as server:
            self.sockets += [caller, server]
            with selectors.DefaultSelector() as selector:
                for one, other in ((caller, server), (server, caller)):
                    selector.register(one, selectors.EVENT_READ, other)
                while True:
                    for key, _ in selector.select():
                        self.is_open.wait()
                        chunk = key.fileobj.recv(CHUNK)  # type: ignore[union-attr]
                        if not chunk:
                            return
                        key.data.sendall(chunk)


@contextmanager
def relay(host: str, port: int) -> Iterator[Relay]:
    found = Relay(host, port)
    try:
        yield found
    finally:
        found.close()

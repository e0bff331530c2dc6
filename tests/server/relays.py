"""A TCP relay in front of another server, such as a database, which can be stalled: connections stay open, and nothing
comes through."""

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

CHUNK = 64 * 1024


class Relay:
    """`answer` may answer what a caller sends instead of the server; the connection then ends. Without an answer, it is
    passed on. If `cut` returns "before" for it, the connection ends without that; if "after", once the server has
    answered, which the caller does not see. `at` is the port where the relay listens; 0 for any."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        at: int = 0,
        answer: Callable[[bytes], bytes] = lambda _chunk: b"",
        cut: Callable[[bytes], str] = lambda _chunk: "",
    ) -> None:
        self.target, self.answer, self.cut = (host, port), answer, cut
        self.listener = socket.create_server(("127.0.0.1", at))
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
                        if key.fileobj is caller and (answer := self.answer(chunk)):
                            caller.sendall(answer)
                            return
                        cut = self.cut(chunk) if key.fileobj is caller else ""
                        if cut == "before":
                            return
                        key.data.sendall(chunk)
                        if cut:
                            server.recv(CHUNK)
                            return


@contextmanager
def relay(host: str, port: int, **given: Any) -> Iterator[Relay]:
    found = Relay(host, port, **given)
    try:
        yield found
    finally:
        found.close()

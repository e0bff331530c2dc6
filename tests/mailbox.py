"""A mail server that takes everything, as real ones speak (RFC 5321), and keeps it to be looked at."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class _Talk(socketserver.StreamRequestHandler):
    """One SMTP connection."""

    server: "_Server"

    def handle(self) -> None:
        self._say("220 mailbox ready")
        receivers: list[str] = []
        for line in self.rfile:
            verb, _, rest = line.decode().strip().partition(" ")
            match verb.upper():
                case "RCPT":
                    receivers.append(rest[rest.index("<") + 1 : rest.index(">")])
                    self._say("250 ok")
                case "DATA":
                    self._say("354 go on")
                    self.server.received.append((receivers, self._content()))
                    receivers = []
                    self._say("250 kept")
                case "QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 ok")

    def _content(self) -> bytes:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        return b"".join(lines)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.received: list[tuple[list[str], bytes]] = []


class Mailbox:
    def __init__(self, server: _Server) -> None:
        self._server = server
        self.port: int = server.server_address[1]

    @property
    def messages(self) -> list[EmailMessage]:
        return [message_from_bytes(content, policy=policy.default) for _, content in self._server.received]

    def texts(self, receiver: str) -> list[str]:
        """The texts of the emails to this address, in order."""
        found = zip(self._server.received, self.messages, strict=True)
        return [
            message.get_body(("plain",)).get_content().replace("\r\n", "\n")  # type: ignore[union-attr]
            for (receivers, _), message in found
            if receivers == [receiver]
        ]


@contextmanager
def open_mailbox() -> Iterator[Mailbox]:
    with _Server() as server:
        # The interval at which it checks whether to stop, in seconds.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Mailbox(server)
        finally:
            server.shutdown()
            thread.join()

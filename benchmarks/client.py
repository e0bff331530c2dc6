"""A client that sends one request after the other over one connection, and measures how long each takes."""

import http.client
import time
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import quantiles

from benchmarks.processes import Broken


@dataclass(frozen=True)
class Answer:
    status: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """Raises Broken if the answer has no such header."""
        for header, value in self.headers:
            if header.lower() == name.lower():
                return value
        raise Broken(f"an answer has no {name}")


class Client:
    def __init__(self, port: int, token: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def ask(
        self, path: str, *, method: str = "GET", headers: dict[str, str] | None = None, body: str | None = None
    ) -> Answer:
        try:
            return self._ask(path, method, headers, body)
        except (http.client.RemoteDisconnected, ConnectionError):
            # The server ends connections that were idle, such as while wrk asked; the next request opens another one.
            self.connection.close()
            return self._ask(path, method, headers, body)

    def _ask(self, path: str, method: str, headers: dict[str, str] | None, body: str | None) -> Answer:
        self.connection.request(method, path, body, self.headers | (headers or {}))
        response = self.connection.getresponse()
        return Answer(f"{response.status} {response.reason}", response.getheaders(), response.read())

    def time(self, path: str, headers: dict[str, str] | None = None) -> float:
        """Seconds until the complete answer arrived. Raises Broken for a status other than 200."""
        began = time.perf_counter()
        answer = self.ask(path, headers=headers)
        took = time.perf_counter() - began
        if not answer.status.startswith("200"):
            raise Broken(f"{path} answered {answer.status}")
        return took

    def warm_up(self, paths: Iterable[str], seconds: float) -> None:
        """Read these paths once, for at most this time, so that caches are warm for the measurement."""
        deadline = time.monotonic() + seconds
        for path in paths:
            if time.monotonic() > deadline:
                break
            self.time(path)


def percentiles(times: list[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    cuts = quantiles(times, n=100, method="inclusive")
    return cuts[49], cuts[98]

"""Calls the application through an edge, as the server does, with API tokens."""

import time

from werkzeug.test import Client, TestResponse

from storefront.server.edge import listening
from storefront.server.edge.edge import Edge
from storefront.server.wsgi import Application

MEBIBYTE = 1024 * 1024
# Headers that differ between any two responses.
OF_ONE_ANSWER = {"X-Request-Id", "X-RateLimit-Reset", "X-RateLimit-Remaining"}


class EdgeClient:
    """Calls an edge for this test alone. `hits` counts responses from memory, `misses` those from Django."""

    def __init__(self, capacity: int = 8 * MEBIBYTE) -> None:
        self.calls = self.misses = 0
        self.django = Application()
        self.edge = Edge(self._miss, capacity)
        self.http = Client(self._call)
        # Wait for the listener, since the edge drops its entries when the listener connects.
        listening.start()
        assert listening.is_connected(wait=10)

    def _call(self, environ, start_response):
        self.calls += 1
        return self.edge(environ, start_response)

    def _miss(self, environ, start_response):
        self.misses += 1
        return self.django(environ, start_response)

    @property
    def hits(self) -> int:
        return self.calls - self.misses

    def ask(self, path: str, token: str | None, method: str = "GET", **headers: str) -> TestResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent.setdefault("Authorization", f"Bearer {token}")
        return self.http.open(f"/api/v1{path}", method=method, headers=sent)

    def is_hit(self, path: str, token: str | None, **headers: str) -> bool:
        """Whether the response comes from memory."""
        before = self.hits
        self.ask(path, token, **headers)
        return self.hits > before

    def becomes_hit(self, path: str, token: str | None) -> bool:
        """Whether the response comes from memory, as soon as the listener has heard of what this process changed."""
        deadline = time.monotonic() + 10
        while not (is_hit := self.is_hit(path, token)) and time.monotonic() < deadline:
            pass
        return is_hit


def comparable(answer: TestResponse) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name not in OF_ONE_ANSWER}
    # An error shows the request's id.
    id = answer.headers["X-Request-Id"].encode()
    return answer.status_code, headers, answer.data.replace(id, b"")

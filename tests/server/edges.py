"""The application as a server calls it, behind an edge, asked by tokens."""

from werkzeug.test import Client, TestResponse

from storefront.server import listening
from storefront.server.edge import Edge
from storefront.server.wsgi import Application

MEBIBYTE = 1024 * 1024
# What differs from one answer to the next by itself.
OF_ONE_ANSWER = {"X-Request-Id", "X-RateLimit-Reset", "X-RateLimit-Remaining"}


class Asked:
    """An edge of this test's own, and the integrations' way to it."""

    def __init__(self, capacity: int = 8 * MEBIBYTE) -> None:
        self.edge = Edge(Application(), capacity)
        self.http = Client(self.edge)
        # What is remembered before it is forgotten when the listener begins to hear.
        listening.start()
        assert listening.hears(wait=10)

    def ask(self, path: str, token: str | None, method: str = "GET", **headers: str) -> TestResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent.setdefault("Authorization", f"Bearer {token}")
        return self.http.open(f"/api/v1{path}", method=method, headers=sent)

    def is_hit(self, path: str, token: str | None, **headers: str) -> bool:
        """Whether the answer comes from memory."""
        before = self.edge.hits
        self.ask(path, token, **headers)
        return self.edge.hits > before


def comparable(answer: TestResponse) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name not in OF_ONE_ANSWER}
    return answer.status_code, headers, answer.data

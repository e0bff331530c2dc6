"""Tests that need a real server: chunked bodies, wrong Content-Lengths, HEAD, and repeated headers."""

import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.databases import database
from tests.server.programs import free_port, is_listening, running, storefront, wait_until

pytestmark = pytest.mark.slow

BODY = b'{"product_id": 1, "qty": 1}'
TOO_LARGE = b'{"a": "' + b"x" * 1024 * 1024 + b'"}'


class Server:
    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token

    def send(self, method: str, path: str, *lines: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body of the answer to exactly these bytes."""
        head = [f"{method} {path} HTTP/1.1", "Host: any", "Connection: close", f"Authorization: Bearer {self.token}"]
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=20)) as connection:
            connection.sendall("\r\n".join([*head, *lines, "", ""]).encode() + body)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _, content = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), content

    def post(self, *lines: str, body: bytes) -> tuple[int, bytes]:
        return self.send("POST", "/api/v1/cart", "Content-Type: application/json", *lines, body=body)


@pytest.fixture(scope="module")
def server(migrated, tmp_path_factory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("over-http")
    with database(directory, copied_from=migrated) as environment:
        made = ["--domain", "s.example", "--name", "S", "--base-url", "https://s.example"]
        assert storefront("createshop", *made, **environment).returncode == 0
        token = storefront("createtoken", "--shop", "s.example", "--scopes", "read_cart,write_cart", **environment)
        port, log = free_port(), Path(directory) / "serve.log"
        with running("serve", "--port", str(port), "--no-worker", log=log, **environment) as process:
            wait_until(lambda: is_listening(port), process=process, what="the server")
            yield Server(port, token.stdout.strip())


def chunked(body: bytes) -> bytes:
    half = len(body) // 2
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:], b""))


def test_a_chunked_body_is_read(server):
    status, content = server.post("Transfer-Encoding: chunked", body=chunked(BODY))
    assert (status, b"product_unavailable" in content) == (422, True)


def test_a_chunked_body_that_is_too_large_is_a_413(server):
    assert server.post("Transfer-Encoding: chunked", body=chunked(TOO_LARGE))[0] == 413


def test_an_announced_body_that_is_too_large_is_a_413(server):
    assert server.post(f"Content-Length: {len(TOO_LARGE)}", body=TOO_LARGE)[0] == 413


def test_only_as_much_as_was_announced_is_read(server):
    status, content = server.post(f"Content-Length: {len(BODY) - 5}", body=BODY)
    assert (status, b"malformed_json" in content) == (400, True)


def test_a_credential_sent_twice_is_refused(server):
    assert server.send("GET", "/api/v1/cart", f"Authorization: Bearer {server.token}")[0] == 401


def test_head_has_the_length_of_get_and_no_body(server):
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    headers = {"Authorization": f"Bearer {server.token}"}
    answers = []
    # The same connection: a body where none belongs would be read as the next answer.
    for method in ("HEAD", "GET", "HEAD"):
        connection.request(method, "/api/v1/cart", headers=headers)
        answer = connection.getresponse()
        answers.append((answer.status, answer.getheader("Content-Length"), len(answer.read())))
    connection.close()
    length = answers[1][2]
    assert length > 0
    assert answers == [(200, str(length), 0), (200, str(length), length), (200, str(length), 0)]


@pytest.mark.parametrize("method", ["FOO", "TRACE", "PROPFIND"])
def test_an_unknown_method_is_a_405(server, method):
    status, content = server.send(method, "/api/v1/cart")
    assert (status, b"method_not_allowed" in content) == (405, True)

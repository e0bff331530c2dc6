"""The server as a process: it answers over TCP, writes its log, and stops on a signal."""

import json
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.databases import database
from tests.server.programs import free_port, is_listening, running, storefront, wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.slow]


@dataclass
class Served:
    process: subprocess.Popen
    port: int
    log: Path

    def ask(self, path: str, method: str = "GET", **headers: str):
        """The answer's status, headers and body."""
        url = f"http://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method=method, headers=headers)) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.headers, answer.read()

    def lines(self, event: str) -> list[dict]:
        """The log's lines about this event."""
        logged = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in logged if line["event"] == event]

    def child(self, name: str) -> int | None:
        """The process id of the child that has taken this name."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        found = [pid for pid in children if Path(f"/proc/{pid}/cmdline").read_text().startswith(f"storefront {name}")]
        return int(found[0]) if found else None


@contextmanager
def serving(environment: dict[str, str], *options: str) -> Iterator[Served]:
    port, log = free_port(), Path(environment["STOREFRONT_DATA_DIR"]) / "serve.log"
    with running("serve", "--port", str(port), "--threads", "2", *options, log=log, **environment) as process:
        wait_until(lambda: is_listening(port), process=process, what="the server")
        yield Served(process, port, log)


@pytest.fixture(scope="module")
def served(migrated, tmp_path_factory) -> Iterator[Served]:
    """One server for the tests that leave it running."""
    directory = tmp_path_factory.mktemp("served")
    with database(directory, copied_from=migrated) as environment, serving(environment) as server:
        wait_until(lambda: server.lines("worker_started"), process=server.process, what="the worker")
        yield server


def test_it_serves_pages_api_and_static_files(served):
    status, headers, body = served.ask("/api/v1/products")
    assert (status, json.loads(body)["code"]) == (401, "token_missing")
    status, headers, body = served.ask("/static/admin/css/base.css")
    assert (status, headers["X-Content-Type-Options"]) == (200, "nosniff")
    status, headers, body = served.ask("/admin/login/")
    assert (status, b"password" in body) == (200, True)


def test_head_has_the_length_of_get_and_no_body(served):
    """On one connection: a body where none belongs would be read as the next answer."""
    with requests.Session() as session:
        session.headers["Accept-Encoding"] = "identity"
        for path in ("/static/admin/css/base.css", "/admin/login/", "/api/v1/products"):
            url = f"http://127.0.0.1:{served.port}{path}"
            head, get, again = (session.request(method, url, timeout=60) for method in ("HEAD", "GET", "HEAD"))
            assert head.status_code == get.status_code == again.status_code
            lengths = [int(answer.headers["Content-Length"]) for answer in (head, get, again)]
            assert lengths == [len(get.content)] * 3
            assert lengths[0] > 0


@pytest.mark.parametrize("method", ["FOO", "TRACE", "PROPFIND"])
def test_an_unknown_method_is_a_405(served, method):
    status, _headers, body = served.ask("/api/v1/cart", method)
    assert (status, json.loads(body)["code"]) == (405, "method_not_allowed")


def test_the_request_log_never_has_a_query(served):
    link = "cart=6f8e5a52-0f0f-4c6e-9a53-1d0d2c5f7a11&expires=1795246200&signature=" + "a" * 64
    status, headers, _ = served.ask(f"/cart/resume?{link}")
    assert status == 404
    line = wait_until(lambda: served.lines("request"), what="the request's line")[-1]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/cart/resume", status)
    assert line["request_id"] == headers["X-Request-Id"]
    assert line["milliseconds"] >= 0
    logged = served.log.read_text()
    assert "6f8e5a52" not in logged
    assert "a" * 9 not in logged


def test_a_dead_worker_is_restarted(served):
    first = served.child("worker")
    assert first
    subprocess.run(["kill", "-KILL", str(first)], check=True)
    wait_until(lambda: served.child("worker") not in (None, first), what="a new worker")
    assert served.lines("child_ended")[0]["child"] == "worker"
    assert served.ask("/api/v1/products")[0] == 401


def test_a_disconnecting_caller_disturbs_nobody(served):
    for _ in range(3):
        with closing(socket.create_connection(("127.0.0.1", served.port))) as caller:
            caller.sendall(b"GET /api/v1/products HTTP/1.1\r\nHost: a\r\n\r\n")
        with closing(socket.create_connection(("127.0.0.1", served.port))) as caller:
            caller.sendall(b"POST /api/v1/cart HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
    assert served.ask("/api/v1/products")[0] == 401


def test_sigterm_stops_web_and_worker_within_ten_seconds(deployment):
    with serving(deployment) as server:
        wait_until(lambda: server.lines("worker_started"), process=server.process, what="the worker")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
        assert not is_listening(server.port)
        assert server.lines("worker_stopped")


def test_sigint_stops_the_server_and_no_worker_means_none(deployment):
    with serving(deployment, "--no-worker") as server:
        wait_until(lambda: server.child("web"), what="the web process")
        assert server.child("worker") is None
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=60) == 0


def test_temporary_files_end_with_their_process(deployment, tmp_path):
    """Those of a process that was killed are deleted by the next one."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    directory = tmp_path / "temporary"
    left = directory / f"storefront-web-{ended.pid}-a"
    left.mkdir(parents=True)
    (left / "export.csv").write_text("a")
    with serving(deployment | {"TMPDIR": str(directory)}, "--no-worker") as server:
        wait_until(lambda: not left.exists(), what="the end of what was left")
        assert wait_until(lambda: list(directory.glob("storefront-web-*")), what="the new process's")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
        assert not list(directory.iterdir())


def test_pending_migrations_are_refused(tmp_path):
    refused = storefront("serve", "--port", str(free_port()), STOREFRONT_DATA_DIR=str(tmp_path))
    assert refused.returncode == 1
    assert "run storefront migrate first." in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_port_in_use_is_reported(deployment):
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = storefront("serve", "--port", str(port), **deployment)
    assert refused.returncode == 1
    message = f"Cannot listen on 127.0.0.1, port {port}: Address already in use."
    assert refused.stderr == f"storefront: {message} Choose another: --port, or PORT=... for make run.\n"


@pytest.mark.parametrize("option", [["--port", "0"], ["--port", "65536"], ["--threads", "21"], ["--workers", "no"]])
def test_a_number_out_of_range_is_wrong_use(option, capsys):
    from storefront.server import cli

    assert cli.run(["storefront", "serve", *option]) == 2
    assert "expected a number from 1 to" in capsys.readouterr().err

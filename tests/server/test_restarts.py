"""Restarts and kills: no request is left without an answer, and no process without a parent."""

import http.client
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from tests.server.clusters import children
from tests.server.programs import clean_environment, free_port, is_listening, running, wait_until
from tests.server.test_serve import Served

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc"),
    pytest.mark.skipif("TEST_POSTGRES_URL" in os.environ, reason="the same with any database, and run with SQLite"),
]


class Asking:
    """Clients that ask all the time: half of them on one connection, half on a new one for each request."""

    def __init__(self, port: int) -> None:
        self.port, self.over = port, threading.Event()
        self.answered, self.failures = 0, []
        self.threads = [threading.Thread(target=self._ask, args=(number % 2 == 0,)) for number in range(4)]

    def _ask(self, keeps: bool) -> None:
        caller = None
        while not self.over.wait(0.005):
            try:
                caller = caller or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                caller.request("GET", "/livez", headers={} if keeps else {"Connection": "close"})
                answer = caller.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failures.append(answer.status)
                if not keeps or answer.will_close:
                    caller.close()
                    caller = None
                self.answered += 1
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                caller = None


@contextmanager
def asking(port: int) -> Iterator[Asking]:
    clients = Asking(port)
    for thread in clients.threads:
        thread.start()
    try:
        yield clients
    finally:
        clients.over.set()
        for thread in clients.threads:
            thread.join()


@contextmanager
def started(environment: dict[str, str], port: int, *options: str, name: str = "serve") -> Iterator[Served]:
    log = Path(environment["STOREFRONT_DATA_DIR"]) / f"{name}.log"
    with running("serve", "--port", str(port), "--threads", "2", *options, log=log, **environment) as process:
        server = Served(process, port, log)
        wait_until(lambda: web_processes(server), process=process, what="the web process")
        wait_until(lambda: is_answering(port), process=process, what="an answer")
        yield server


def is_answering(port: int) -> bool:
    with (
        suppress(OSError, http.client.HTTPException),
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as caller,
    ):
        caller.request("GET", "/livez")
        return caller.getresponse().status == 200
    return False


def web_processes(server: Served) -> list[int]:
    parent = server.child("web")
    return children(parent) if parent else []


def family(server: Served) -> list[int]:
    """All descendants of the supervisor."""
    found = children(server.process.pid)
    for pid in found:
        found += children(pid)
    return found


def is_alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for_end(pids: list[int], what: str) -> None:
    wait_until(lambda: not any(map(is_alive, pids)), what=what, seconds=60)


def test_a_reload_leaves_no_request_unanswered(deployment):
    with started(deployment, free_port()) as server:
        wait_until(lambda: server.lines("worker_started"), what="the worker")
        before = family(server)
        with asking(server.port) as clients:
            rename_migrations(deployment, "sync", "sync2")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: server.lines("not_reloaded"), what="the refusal", process=server.process)
            assert family(server) == before
            rename_migrations(deployment, "sync2", "sync")
            server.process.send_signal(signal.SIGHUP)
            wait_until(lambda: len(server.lines("worker_started")) == 2, what="a new worker", process=server.process)
            wait_for_end(before, "the end of the first processes")
            asked = clients.answered
            wait_until(lambda: clients.answered > asked + 100, what="more answers")
        assert clients.failures == []
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0
        assert not is_listening(server.port)


def rename_migrations(environment: dict[str, str], app: str, to: str) -> None:
    """As if the app's migrations had not been applied, or had been after all."""
    statement = f"UPDATE django_migrations SET app = '{to}' WHERE app = '{app}'"
    if url := environment.get("DATABASE_URL"):
        with psycopg.connect(url) as connection:
            connection.execute(statement)
        return
    with closing(sqlite3.connect(f"{environment['STOREFRONT_DATA_DIR']}/storefront.sqlite3")) as database, database:
        database.execute(statement)


def test_a_killed_supervisor_leaves_nothing_that_has_the_port(deployment):
    with started(deployment, free_port(), "--no-worker") as server:
        left = family(server)
        server.process.kill()
        with started(deployment, server.port, "--no-worker", name="second"):
            wait_for_end(left, "the end of the orphans")


def test_more_connections_than_descriptors_end_no_process_and_the_end_of_its_parent_does(deployment):
    """Further connections wait until others end. Without its parent, no web process keeps the port."""
    limit, port = 200, free_port()
    log = Path(deployment["STOREFRONT_DATA_DIR"]) / "serve.log"

    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit // 2, limit))

    with log.open("wb") as output, ExitStack() as stack:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("storefront"), "serve", "--port", str(port), "--no-worker"],
            env=clean_environment(**deployment),
            stdout=output,
            stderr=output,
            preexec_fn=lower,
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        server = Served(process, port, log)
        wait_until(lambda: is_answering(port), process=process, what="an answer")
        web = web_processes(server)
        descriptors = Path(f"/proc/{web[0]}/fd")
        own = len(list(descriptors.iterdir()))
        callers = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(limit)]
        for caller in callers:
            caller.connect()
        wait_until(lambda: len(list(descriptors.iterdir())) > own + 30, what="many connections")
        assert len(list(descriptors.iterdir())) < limit
        for caller in callers:
            caller.close()
        began = time.monotonic()
        wait_until(lambda: is_answering(port), process=process, what="an answer")
        assert time.monotonic() - began < 10
        assert web_processes(server) == web
        os.kill(server.child("web"), signal.SIGKILL)
        assert process.wait(timeout=60) == 1
        wait_for_end(web, "the end of the web process")
        assert not is_listening(port)

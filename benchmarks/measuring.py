"""Measures one kind of request: loads the server, and for comparison an empty application with the same answer."""

import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from benchmarks import wrk
from benchmarks.client import Answer, Client, percentiles
from benchmarks.prepared import Prepared, clean_environment
from benchmarks.processes import Broken, Cores, Server, cpu_seconds, free_port, named, serving
from benchmarks.report import Bar, Row

# Headers that the server sets itself or must calculate again.
OF_THE_SERVER = ("server", "date", "connection", "transfer-encoding", "keep-alive")


@dataclass(frozen=True)
class Case:
    """One kind of request. `turns` are paths, or bodies of a POST, used in turn. The first answer is checked."""

    what: str
    path: str
    bar: Bar | None = None
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    turns: Sequence[str] = ()
    connections: int = 16
    status: int = 200


class EmptyApp:
    """The empty application. New answers can be added while it runs. Keeps the measured cost of each."""

    def __init__(self, server: Server, answers: Path) -> None:
        self.server, self.file = server, answers
        self.answers: dict[str, dict[str, object]] = {}
        self.spent: dict[str, tuple[float, int]] = {}

    def add_answer(self, answer: Answer) -> str:
        """Add the answer, unless it is there already; returns the path at which it is served."""
        headers = [pair for pair in answer.headers if pair[0].lower() not in OF_THE_SERVER]
        added: dict[str, object] = {
            "status": answer.status,
            "headers": headers,
            "body": b64encode(answer.body).decode(),
        }
        for path, existing in self.answers.items():
            if existing["body"] == added["body"] and existing["status"] == added["status"]:
                return path
        path = f"/{len(self.answers)}"
        self.answers[path] = added
        self.file.write_bytes(orjson.dumps(self.answers))
        return path

    def cost(self, path: str) -> float:
        """Mean CPU seconds per answer, over all measurements of this path."""
        cpu, requests = self.spent[path]
        return cpu / requests


@contextmanager
def empty_app(cores: Cores, scratch: Path) -> Iterator[EmptyApp]:
    answers, port = scratch / "answers.json", free_port()
    answers.write_text("{}")
    environment = clean_environment() | {"BENCH_ANSWERS": str(answers), "STOREFRONT_LOG_LEVEL": "warning"}
    command = [sys.executable, "-m", "benchmarks.floor", "--port", str(port)]
    with serving(command, core=cores.server, port=port, environment=environment, log=scratch / "floor.log") as server:
        yield EmptyApp(server, answers)


@dataclass(frozen=True)
class Durations:
    """Durations of the measurements in seconds; `rounds` of them alternate with the empty application."""

    seconds: int
    floor_seconds: int
    warm_seconds: int
    rounds: int


class Bench:
    """Measures requests to one server with one prepared database."""

    def __init__(
        self, prepared: Prepared, server: Server, empty_app: EmptyApp, cores: Cores, durations: Durations
    ) -> None:
        self.prepared, self.server, self.empty_app = prepared, server, empty_app
        self.cores, self.durations = cores, durations
        self.client = Client(server.port, prepared.token)
        self.has_own_database_server = prepared.database != "SQLite"

    def measure(self, case: Case, *, compared: bool = True) -> Row:
        """Measure the case; returns its row. Raises Broken if the answer's status is not the case's."""
        answer = self.probe(case)
        path = self.empty_app.add_answer(answer) if compared else None
        row = self.row(case.what, bar=case.bar)
        with tempfile.NamedTemporaryFile("w", suffix=".turns") as file:
            file.writelines(f"{turn}\n" for turn in case.turns)
            file.flush()
            turns = Path(file.name) if case.turns else None
            if self.durations.warm_seconds:
                self.load(case, turns, self.durations.warm_seconds)
            loads, cpu, database_cpu = [], 0.0, 0.0
            for _ in range(self.durations.rounds):
                before, database_before = self.server.cpu_seconds(), database_clocks()
                loads.append(self.load(case, turns, self.durations.seconds))
                cpu += self.server.cpu_seconds() - before
                database_cpu += spent_since(database_before)
                if path and (self.durations.rounds > 1 or path not in self.empty_app.spent):
                    self.load_empty_app(case, path)
        requests = sum(load.requests for load in loads)
        if not requests:
            raise Broken("nothing was answered in time")
        if failed := sum(load.failed for load in loads):
            row.note = f"{failed} of {requests} requests failed"
        row.per_second = sum(load.per_second for load in loads) / len(loads)
        row.p50, row.p99 = max(load.p50 for load in loads), max(load.p99 for load in loads)
        row.cpu, row.floor = cpu / requests, self.empty_app.cost(path) if path else None
        if self.has_own_database_server:
            row.database_cpu = database_cpu / requests
        row.memory = self.server.memory().resident
        return row

    def probe(self, case: Case) -> Answer:
        path, body = (case.path, case.turns[0]) if case.method == "POST" else (case.path, None)
        answer = self.client.ask(path, method=case.method, headers=case.headers, body=body)
        if not answer.status.startswith(str(case.status)):
            raise Broken(f"{case.method} {path} answered {answer.status}: {answer.body[:200].decode(errors='replace')}")
        return answer

    def load(self, case: Case, turns: Path | None, seconds: int) -> wrk.Load:
        return wrk.run(
            f"http://127.0.0.1:{self.server.port}{case.path}",
            core=self.cores.load,
            seconds=seconds,
            connections=case.connections,
            headers=self.client.headers | case.headers,
            method=case.method,
            rotating=turns,
        )

    def load_empty_app(self, case: Case, path: str) -> None:
        server = self.empty_app.server
        before = server.cpu_seconds()
        load = wrk.run(
            f"http://127.0.0.1:{server.port}{path}",
            core=self.cores.load,
            seconds=self.durations.floor_seconds,
            connections=case.connections,
            headers=self.client.headers | case.headers,
        )
        if load.failed or not load.requests:
            raise Broken("the empty application does not answer")
        cpu, requests = self.empty_app.spent.get(path, (0.0, 0))
        self.empty_app.spent[path] = (cpu + server.cpu_seconds() - before, requests + load.requests)

    def read_in_order(self, what: str, paths: Sequence[str]) -> Row:
        """Measure reading these paths once, one after the other, over one connection; returns the row."""
        row = self.row(what)
        before, database_before, began = self.server.cpu_seconds(), database_clocks(), time.monotonic()
        times = [self.client.time(path) for path in paths]
        row.per_second = len(times) / (time.monotonic() - began)
        row.p50, row.p99 = percentiles(times)
        row.cpu = (self.server.cpu_seconds() - before) / len(times)
        if self.has_own_database_server:
            row.database_cpu = spent_since(database_before) / len(times)
        row.memory = self.server.memory().resident
        return row

    def row(self, what: str, bar: Bar | None = None) -> Row:
        return Row(what=what, database=self.prepared.database, products=self.prepared.size, bar=bar)


def database_clocks() -> dict[int, float]:
    """CPU seconds so far of each PostgreSQL process on this machine, by process id."""
    clocks = {}
    for pid in named("postgres"):
        with suppress(OSError):
            clocks[pid] = cpu_seconds(pid)
    return clocks


def spent_since(before: dict[int, float]) -> float:
    return sum(now - before.get(pid, 0.0) for pid, now in database_clocks().items())

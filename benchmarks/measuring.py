"""Measures one kind of request: loads the server with it, and an empty application with the same answer beside it."""

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

# What a server says by itself, or must count anew.
OF_THE_SERVER = ("server", "date", "connection", "transfer-encoding", "keep-alive")


@dataclass(frozen=True)
class Case:
    """One kind of request. `turns` are paths, or bodies of a POST, that take turns; the first answer stands for all."""

    what: str
    path: str
    bar: Bar | None = None
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    turns: Sequence[str] = ()
    connections: int = 16
    status: int = 200


class Floor:
    """The empty application. It learns answers while it runs, and remembers what each was measured to cost."""

    def __init__(self, server: Server, answers: Path) -> None:
        self.server, self.file = server, answers
        self.answers: dict[str, dict[str, object]] = {}
        self.spent: dict[str, tuple[float, int]] = {}

    def learn(self, answer: Answer) -> str:
        """The path at which the answer is given from now on."""
        headers = [pair for pair in answer.headers if pair[0].lower() not in OF_THE_SERVER]
        told: dict[str, object] = {"status": answer.status, "headers": headers, "body": b64encode(answer.body).decode()}
        for path, known in self.answers.items():
            if known["body"] == told["body"] and known["status"] == told["status"]:
                return path
        path = f"/{len(self.answers)}"
        self.answers[path] = told
        self.file.write_bytes(orjson.dumps(self.answers))
        return path

    def cost(self, path: str) -> float:
        """CPU seconds of one answer, over all that was measured of it."""
        cpu, requests = self.spent[path]
        return cpu / requests


@contextmanager
def empty_app(cores: Cores, scratch: Path) -> Iterator[Floor]:
    answers, port = scratch / "answers.json", free_port()
    answers.write_text("{}")
    environment = clean_environment() | {"BENCH_ANSWERS": str(answers), "STOREFRONT_LOG_LEVEL": "warning"}
    command = [sys.executable, "-m", "benchmarks.floor", "--port", str(port)]
    with serving(command, core=cores.server, port=port, environment=environment, log=scratch / "floor.log") as server:
        yield Floor(server, answers)


@dataclass(frozen=True)
class Effort:
    """How long is measured, in seconds; `rounds` of it take turns with the empty application."""

    seconds: int
    floor_seconds: int
    warm_seconds: int
    rounds: int


class Bench:
    """Measures requests to one server that serves one prepared database."""

    def __init__(self, prepared: Prepared, server: Server, floor: Floor, cores: Cores, effort: Effort) -> None:
        self.prepared, self.server, self.floor, self.cores, self.effort = prepared, server, floor, cores, effort
        self.client = Client(server.port, prepared.token)
        self.has_own_database_server = prepared.database != "SQLite"

    def measure(self, case: Case, *, floored: bool = True) -> Row:
        """The case's row. Raises Broken where it is answered otherwise than it says."""
        answer = self.probe(case)
        path = self.floor.learn(answer) if floored else None
        row = self.row(case.what, bar=case.bar)
        with tempfile.NamedTemporaryFile("w", suffix=".turns") as file:
            file.writelines(f"{turn}\n" for turn in case.turns)
            file.flush()
            turns = Path(file.name) if case.turns else None
            if self.effort.warm_seconds:
                self.load(case, turns, self.effort.warm_seconds)
            loads, cpu, database_cpu = [], 0.0, 0.0
            for _ in range(self.effort.rounds):
                before, database_before = self.server.cpu_seconds(), database_clocks()
                loads.append(self.load(case, turns, self.effort.seconds))
                cpu += self.server.cpu_seconds() - before
                database_cpu += spent_since(database_before)
                if path and (self.effort.rounds > 1 or path not in self.floor.spent):
                    self.load_floor(case, path)
        requests = sum(load.requests for load in loads)
        if not requests:
            raise Broken("nothing was answered in time")
        if failed := sum(load.failed for load in loads):
            row.note = f"{failed} of {requests} requests failed"
        row.per_second = sum(load.per_second for load in loads) / len(loads)
        row.p50, row.p99 = max(load.p50 for load in loads), max(load.p99 for load in loads)
        row.cpu, row.floor = cpu / requests, self.floor.cost(path) if path else None
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

    def load_floor(self, case: Case, path: str) -> None:
        server = self.floor.server
        before = server.cpu_seconds()
        load = wrk.run(
            f"http://127.0.0.1:{server.port}{path}",
            core=self.cores.load,
            seconds=self.effort.floor_seconds,
            connections=case.connections,
            headers=self.client.headers | case.headers,
        )
        if load.failed or not load.requests:
            raise Broken("the empty application does not answer")
        cpu, requests = self.floor.spent.get(path, (0.0, 0))
        self.floor.spent[path] = (cpu + server.cpu_seconds() - before, requests + load.requests)

    def read_in_order(self, what: str, paths: Sequence[str]) -> Row:
        """The row of reading these once, one after the other, over one connection."""
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
    """CPU seconds so far of each of PostgreSQL's processes on this machine."""
    clocks = {}
    for pid in named("postgres"):
        with suppress(OSError):
            clocks[pid] = cpu_seconds(pid)
    return clocks


def spent_since(before: dict[int, float]) -> float:
    return sum(now - before.get(pid, 0.0) for pid, now in database_clocks().items())

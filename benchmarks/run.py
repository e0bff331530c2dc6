"""`make bench`: generates shops, serves them on one core, loads them from the other, and prints what that cost.

python -m benchmarks.run [--quick] [--anew] [--drop] [--write]
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import postgres, prepared, report, wrk
from benchmarks.measuring import Effort, empty_app
from benchmarks.processes import Broken, Cores, busy
from benchmarks.report import Row
from benchmarks.sections import Place, Plan, TimeUp, measure_all

FULL = Plan((1_000, 100_000, 1_000_000), Effort(seconds=3, floor_seconds=1, warm_seconds=1, rounds=2), 150, 1700)
QUICK = Plan((1_000, 20_000), Effort(seconds=1, floor_seconds=1, warm_seconds=0, rounds=1), 10, 165)
# A core that others use this much, from 0 to 1, makes every figure worse.
DISTURBED = 0.1
INTERRUPTED = 130


@dataclass
class Told:
    """What came out so far."""

    began: float = field(default_factory=time.monotonic)
    rows: list[Row] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    broken: bool = False

    def row(self, row: Row) -> None:
        self.rows.append(row)
        figures = [
            f"{text} {name}" for name, text in zip(report.HEADINGS[3:10], report.cells(row)[3:10], strict=True) if text
        ]
        self.say(f"{row.what}, {row.database}, {row.products:,}: {', '.join(figures)} {row.verdict}")

    def lament(self, text: str) -> None:
        self.broken = True
        self.warn(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self.say(f"Warning: {text}")

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.began:5.0f} s] {text}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small shops and short runs: within three minutes")
    parser.add_argument("--anew", action="store_true", help="fill the databases again, which measures the import anew")
    parser.add_argument("--drop", action="store_true", help="only remove the databases that are kept")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md, as full runs do")
    given = parser.parse_args()
    server = postgres.answering_server()
    if given.drop:
        prepared.drop(server)
        return 0
    wrk.require()
    told = Told()
    with stopped_by_signals():
        try:
            measure(QUICK if given.quick else FULL, server, told, anew=given.anew)
            whole = True
        except TimeUp:
            told.warn("time was up, so not everything was measured")
            whole = True
        except KeyboardInterrupt:
            told.warn("stopped before its end")
            whole = False
    about = report.machine(postgres.version(server) if server else None)
    text = report.text(told.rows, about, told.warnings)
    print(f"\n{text}")
    if whole and (given.write or not given.quick):
        report.write(text)
    return int(told.broken) if whole else INTERRUPTED


def measure(plan: Plan, server: str | None, told: Told, *, anew: bool) -> None:
    cores = Cores.of_this_machine()
    examine_machine(cores, told)
    databases: dict[str, str | None] = {"SQLite": None}
    if server:
        databases["PostgreSQL"] = server
    else:
        told.warn("no PostgreSQL answers, so only SQLite is measured")
    shops: dict[str, list[prepared.Prepared]] = {}
    for name, url in databases.items():
        for size in plan.sizes:
            told.say(f"Preparing {size:,} products in {name} ...")
            shops.setdefault(name, []).append(prepared.prepare(name, size, url, anew=anew))
    # The readers of ours are on the core that loads, like wrk.
    os.sched_setaffinity(0, {cores.load})
    with tempfile.TemporaryDirectory(prefix="storefront-bench-") as scratch, empty_app(cores, Path(scratch)) as floor:
        for measured in shops.values():
            measure_all(measured, Place(floor, cores, plan, told.row, told.lament, told.began + plan.limit))


def examine_machine(cores: Cores, told: Told) -> None:
    """Whatever makes the figures worse than they are is said, before and beside them."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    told.say(f"Load average {load}; the server is on core {cores.server}, its callers on core {cores.load}.")
    if cores.server == cores.load:
        told.warn("there is one core only, so the server and its callers take it from each other")
    if (share := busy(cores)) > DISTURBED:
        told.warn(f"other programs use {share:.0%} of a core that is measured on (load average {load})")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP stop what runs as Ctrl-C does: everything that was started ends, and what is known is told."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    former = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, former, strict=True):
            signal.signal(number, handler)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as reason:
        sys.exit(f"bench: {reason}")

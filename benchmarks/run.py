"""`make bench`: generates shops, serves them on one core, loads them from the other, and prints the results.

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
from benchmarks.measuring import Durations, empty_app
from benchmarks.processes import Broken, Cores, busy
from benchmarks.report import Row
from benchmarks.sections import Plan, Session, TimeUp, measure_all

FULL = Plan((1_000, 100_000, 1_000_000), Durations(seconds=3, floor_seconds=1, warm_seconds=1, rounds=2), 150, 1700)
QUICK = Plan((1_000, 20_000), Durations(seconds=1, floor_seconds=1, warm_seconds=0, rounds=1), 10, 165)
# Products of the largest shop on SQLite, beyond which the product asks for PostgreSQL.
MAX_PRODUCTS_ON_SQLITE = 100_000
# If other programs use more than this share of a core, from 0 to 1, the report has a warning.
DISTURBED = 0.1
INTERRUPTED = 130


@dataclass
class Results:
    """The rows and warnings so far. Prints each to stderr as it is added."""

    began: float = field(default_factory=time.monotonic)
    rows: list[Row] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    broken: bool = False

    def add_row(self, row: Row) -> None:
        self.rows.append(row)
        figures = [
            f"{text} {name}"
            for name, text in zip(report.HEADINGS[3:10], report.columns(row)[3:10], strict=True)
            if text
        ]
        self.say(f"{row.what}, {row.database}, {row.products:,}: {', '.join(figures)} {row.verdict}")

    def add_failure(self, text: str) -> None:
        self.broken = True
        self.add_warning(text)

    def add_warning(self, text: str) -> None:
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
    results = Results()
    with stopped_by_signals():
        try:
            measure(QUICK if given.quick else FULL, server, results, anew=given.anew)
            is_complete = True
        except TimeUp:
            results.add_warning("time was up, so not everything was measured")
            is_complete = True
        except KeyboardInterrupt:
            results.add_warning("stopped before its end")
            is_complete = False
    about = report.machine(postgres.version(server) if server else None)
    text = report.text(results.rows, about, results.warnings)
    print(f"\n{text}")
    if is_complete and (given.write or not given.quick):
        report.write(text)
    return int(results.broken) if is_complete else INTERRUPTED


def measure(plan: Plan, server: str | None, results: Results, *, anew: bool) -> None:
    cores = Cores.of_this_machine()
    examine_machine(cores, results)
    databases: dict[str, str | None] = {"SQLite": None}
    if server:
        databases["PostgreSQL"] = server
    else:
        results.add_warning("no PostgreSQL answers, so only SQLite is measured")
    shops: dict[str, list[prepared.Prepared]] = {}
    for name, url in databases.items():
        for size in (size for size in plan.sizes if url or size <= MAX_PRODUCTS_ON_SQLITE):
            results.say(f"Preparing {size:,} products in {name} ...")
            shops.setdefault(name, []).append(prepared.prepare(name, size, url, anew=anew))
    # The benchmark's own clients run on the core that loads, like wrk.
    os.sched_setaffinity(0, {cores.load})
    with tempfile.TemporaryDirectory(prefix="storefront-bench-") as scratch, empty_app(cores, Path(scratch)) as empty:
        for measured in shops.values():
            measure_all(
                measured, Session(empty, cores, plan, results.add_row, results.add_failure, results.began + plan.limit)
            )


def examine_machine(cores: Cores, results: Results) -> None:
    """Warn about everything on this machine that makes the figures worse."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    results.say(f"Load average {load}; the server is on core {cores.server}, its callers on core {cores.load}.")
    if cores.server == cores.load:
        results.add_warning("there is one core only, so the server and its callers take it from each other")
    if (share := busy(cores)) > DISTURBED:
        results.add_warning(f"other programs use {share:.0%} of a core that is measured on (load average {load})")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP act like Ctrl-C: all started processes end, and the results so far are printed."""
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

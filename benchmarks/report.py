"""The report: the measured rows as a table, with a description of the machine."""

import os
import platform
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PAGE = Path("docs/performance.md")
BEGIN, END = "<!-- measured: written by make bench -->", "<!-- end of measured -->"
# Markers of the second table, which benchmarks/deliveries.py writes.
WEBHOOKS = "<!-- webhooks: written by make bench -->", "<!-- end of webhooks -->"


@dataclass(frozen=True)
class Bar:
    """A limit that a row must meet: as text, and as pairs of (measured value, maximum)."""

    text: str
    limits: Callable[["Row"], list[tuple[float | None, float]]]


@dataclass(kw_only=True)
class Row:
    """One line of the table. Durations and CPU in seconds, memory in MiB; None for values that do not apply.

    `floor` is the CPU of an empty application for the same answer, `compared` the ratio that a comparison's bar limits.
    """

    what: str
    database: str
    products: int
    per_second: float | None = None
    p50: float | None = None
    p99: float | None = None
    cpu: float | None = None
    database_cpu: float | None = None
    floor: float | None = None
    memory: float | None = None
    compared: float | None = None
    bar: Bar | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.cpu / self.floor if self.cpu and self.floor else None

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        used = [None if value is None else value / limit for value, limit in self.bar.limits(self)]
        measured = [ratio for ratio in used if ratio is not None]
        if len(measured) < len(used):
            return "**no**, not measured"
        # A value equal to the bar meets it, despite rounding errors of the division.
        return "yes" if max(measured) < 1 + 1e-9 else f"**no**, {max(measured):.2f} × the bar"


HEADINGS = (
    *("Endpoint", "Database", "Products", "Requests/s", "p50 ms", "p99 ms", "CPU µs"),
    *("Database's CPU µs", "× empty app", "Memory MiB", "Bar", "Met"),
)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, with columns aligned in plain text too."""
    lines = [HEADINGS, *map(columns, rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADINGS))]
    texts = ["| " + " | ".join(map(aligned, line, widths, range(99))) + " |" for line in lines]
    rule = "|" + "|".join(f"{'-' * (width + 1)}{':' if 2 <= place <= 9 else '-'}" for place, width in enumerate(widths))
    notes = [f"- {row.what}, {row.database}, {row.products:,}: {row.note}" for row in rows if row.note]
    return "\n".join([texts[0], f"{rule}|", *texts[1:], *(["", *notes] if notes else [])])


def aligned(text: str, width: int, place: int) -> str:
    return text.rjust(width) if 2 <= place <= 9 else text.ljust(width)


def columns(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        row.database,
        f"{row.products:,}",
        shown(row.per_second, 1, 0),
        shown(row.p50, 1e3, 2),
        shown(row.p99, 1e3, 2),
        shown(row.cpu, 1e6, 0),
        shown(row.database_cpu, 1e6, 0),
        shown(row.ratio, 1, 2),
        shown(row.memory, 1, 0),
        row.bar.text if row.bar else "",
        row.verdict,
    )


def shown(value: float | None, factor: float, digits: int) -> str:
    return "" if value is None else f"{value * factor:,.{digits}f}"


def machine(postgres: str | None) -> dict[str, str]:
    """The machine and the versions that the figures depend on. `postgres` is the server's version."""
    return {
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Processor": f"{processor()}, {os.cpu_count()} cores",
        "Kernel": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "Granian": version("granian"),
        "SQLite": sqlite3.sqlite_version,
        "PostgreSQL": postgres or "none answered",
    }


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def text(rows: Sequence[Row], about: dict[str, str], warnings: Sequence[str]) -> str:
    """The whole report: the machine, warnings about the figures, the table."""
    lines = [f"- {name}: {value}" for name, value in about.items()]
    lines += [f"- **Warning**: {warning}" for warning in warnings]
    return "\n".join([*lines, "", table(rows)])


def write(report: str, begin: str = BEGIN, end: str = END, page: Path | None = None) -> None:
    """Write the report between its markers in the page, or in docs/performance.md; the rest of it stays as it is."""
    page = page or PAGE
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n\n{report}\n\n{end}{after}")

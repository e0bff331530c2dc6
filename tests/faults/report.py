"""The table of faults, for docs/failure.md."""

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/failure.md"
BEGIN, END = "<!-- faults: written by make faults -->", "<!-- end of faults -->"


@dataclass
class Row:
    """What was seen from the begin of a fault until all was well again. Durations in seconds."""

    fault: str
    database: str
    skipped: str = ""
    began: float = 0.0
    ended: float = 0.0
    orders: int = 0
    failures: str = ""
    recovery: float = 0.0
    gap: float = 0.0
    lost: int = 0
    doubled: int = 0
    webhooks: int = 0

    def line(self) -> str:
        if self.skipped:
            return f"| {self.fault} | {self.database} | skipped: {self.skipped} | | | | | |"
        cells = [
            *(self.fault, self.database, self.failures),
            *(f"{self.gap:.1f} s", f"{self.recovery:.1f} s", self.orders, self.webhooks),
            f"{self.lost} / {self.doubled}",
        ]
        return f"| {' | '.join(map(str, cells))} |"


@dataclass
class Total:
    database: str
    orders: int
    lost: int
    doubled: int
    events: int
    missing: int
    unknown: int
    repeated: int

    @property
    def is_right(self) -> bool:
        return not (self.lost or self.doubled or self.missing or self.unknown) and self.orders > 0

    def sentence(self) -> str:
        return (
            f"{self.database}: {self.orders:,} orders, {self.lost} lost, {self.doubled} doubled. "
            f"{self.events:,} webhooks, {self.missing} missing, {self.unknown} with an unknown id, "
            f"{self.repeated} sent again with the same id."
        )


def report(rows: list[Row], totals: list[Total]) -> str:
    head = [
        "| Fault | Database | Failed attempts | Longest without an answer | Well again after | Orders | Webhooks "
        "| Lost / doubled |",
        "|---|---|---|---|---|---|---|---|",
    ]
    machine = f"Measured on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, Python {platform.python_version()}."
    # One fault's databases below each other.
    order = {row.fault: place for place, row in reversed(list(enumerate(rows)))}
    lines = [row.line() for row in sorted(rows, key=lambda row: order[row.fault])]
    return "\n".join([*head, *lines, "", *(f"- {total.sentence()}" for total in totals), "", machine])


def write(text: str) -> None:
    """Replace the page's part between the markers."""
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")

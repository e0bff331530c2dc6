"""The report: what was asked for, how long it took, what was killed and moved, and what is wrong."""

import os
import platform
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import processor
from tests.faults.customers import kinds
from tests.load.checking import Compared
from tests.load.kills import Kill
from tests.load.moves import Moves
from tests.load.shoppers import MIX, Seen

PAGE = Path(__file__).parents[2] / "docs/scale.md"
BEGIN, END = "<!-- load: written by make load -->", "<!-- end of load -->"
# Examples of each kind of problem that are shown.
SHOWN = 5


@dataclass
class Run:
    """`cpu` are the CPU seconds of each program in `lasted` seconds, until the last move and order had ended. In the
    first `seconds` of these, shoppers began something."""

    seconds: float
    lasted: float
    rate: float
    seen: Seen
    kills: list[Kill]
    moves: Moves
    compared: Compared
    cpu: dict[str, float]

    def problems(self) -> dict[str, list[str]]:
        """What must not be, by its name. Empty lists are left out."""
        seen, compared = self.seen, self.compared
        every = {
            "orders lost": compared.lost,
            "orders doubled": compared.doubled,
            "orders that no shopper asked for": compared.unknown,
            "products whose stock is wrong": compared.stock,
            "carts that differ": compared.wrong_carts,
            "orders without a mail": compared.without_mail,
            "deviations by storefront verify": compared.deviations,
            "answers of 5xx without Retry-After": seen.unannounced,
            "answers with another shop's products": seen.foreign,
            "calls and pages refused": seen.refused,
            "shops not moved": self.moves.failed,
            "shoppers who gave up": [repr(error) for error in (*seen.broken, *self.moves.broken)],
        }
        return {name: found for name, found in every.items() if found}

    @property
    def is_right(self) -> bool:
        return not self.problems() and self.compared.orders > 0

    def lines(self) -> list[str]:
        return [*self.requests(), "", *self.killed(), "", *self.spent(), "", *self.verdict()]

    def requests(self) -> list[str]:
        rows = []
        for kind, times in sorted(self.seen.durations.items(), key=lambda item: -len(item[1])):
            cells = [
                f"{len(times):,}",
                f"{len(times) / self.seconds:.1f}",
                f"{at(times, 0.5):.0f}",
                f"{at(times, 0.99):.0f}",
            ]
            rows.append(f"| {kind} | {' | '.join(cells)} |")
        head = "| Requests | Answers | Answers/s | p50 ms | p99 ms |"
        return [head, "|---|---:|---:|---:|---:|", *rows]

    def killed(self) -> list[str]:
        ends = [kill.at for kill in self.kills[1:]] + [float("inf")]
        rows = []
        for kill, end in zip(self.kills, ends, strict=True):
            failures = [failure for failure in self.seen.failures if kill.at <= failure[0] < end]
            last = max([0.0, *(moment - kill.at for moment, _ in failures)])
            rows.append(f"| {kill.what} | {kinds(failures)} | {last:.1f} s |")
        return ["| Killed | Failed attempts until the next kill | Last of them after |", "|---|---|---:|", *rows]

    def spent(self) -> list[str]:
        sums: Counter[str] = Counter()
        for name, seconds in self.cpu.items():
            sums[name.partition("-")[0]] += seconds
        rows = [f"| {name} | {value:.1f} | {value / self.lasted:.2f} |" for name, value in sums.most_common()]
        return ["| Programs of both pods | CPU s | Cores |", "|---|---:|---:|", *rows]

    def verdict(self) -> list[str]:
        compared, seen = self.compared, self.seen
        answers = sum(map(len, seen.durations.values()))
        mix = ", ".join(f"{share}% {kind}s" for kind, share in MIX.items())
        lines = [
            f"{compared.shops} shops in two pods, {answers:,} answers. Shoppers began at most {self.rate:g} "
            f"actions a second, for {self.seconds:.0f} s: {mix}. All had ended after {self.lasted:.0f} s.",
            f"{len(self.kills)} programs were killed. {len(seen.failures)} attempts failed and were repeated, "
            f"{len(seen.unannounced)} of them after a 5xx without `Retry-After`.",
            self.moves.sentence(),
            f"{compared.orders:,} orders, {len(compared.lost)} lost, {len(compared.doubled)} doubled; "
            f"{compared.mails:,} confirmed by mail, {len(compared.without_mail)} not; {compared.carts:,} carts "
            f"compared, {len(compared.wrong_carts)} differ; {len(compared.stock)} products with a wrong stock.",
        ]
        if compared.unseen:
            lines.append(f"{len(compared.unseen)} orders exist whose shoppers never saw the confirmation.")
        for name, found in self.problems().items():
            lines.append(f"**{len(found)} {name}**: {'; '.join(found[:SHOWN])}")
        machine = f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        return [f"- {line}" for line in lines] + ["", f"Measured on {datetime.now(UTC):%Y-%m-%d}: {machine}."]


def at(times: list[float], share: float) -> float:
    """The duration in milliseconds that this share does not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000

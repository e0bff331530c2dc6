"""Arithmetic on arrivals: which pieces of a basket's lines its shopper chose, and which a checkout link brought. No
database access."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from storefront.carts.models import Arrival, CartLine


@dataclass(frozen=True, slots=True)
class ArrivalSummary:
    """An arrival as the shopper sees it: `added` holds `{name, qty}`, `missing` holds `{name, wanted, qty}`."""

    id: int
    added: list[dict[str, Any]]
    missing: list[dict[str, Any]]
    was_merged: bool


def trim_arrivals(arrivals: Iterable[Arrival], lines: Iterable[CartLine]) -> None:
    """Lower the arrivals' quantities to what is still in the basket.

    When a shopper lowers a quantity, pieces that links brought count as removed before pieces that the shopper chose.
    So undoing an arrival never removes what the shopper chose. A line that was removed and added again has a new id and
    belongs to no arrival.
    """
    arrivals = list(arrivals)
    unassigned = {line.pk: max(line.qty - _recorded_own_pieces(line, arrivals), 0) for line in lines}
    for arrival in arrivals:
        for entry in arrival.lines:
            entry["qty"] = min(entry["qty"], unassigned.get(entry["line"], 0))
            if entry["qty"]:
                unassigned[entry["line"]] -= entry["qty"]
        arrival.lines = [entry for entry in arrival.lines if entry["qty"]]
    record_own_pieces(arrivals, lines)


def record_own_pieces(arrivals: Sequence[Arrival], lines: Iterable[CartLine]) -> None:
    """Set `own` in each arrival's entries: how many pieces of that line no arrival brought."""
    counts = {line.pk: own_pieces(line, arrivals) for line in lines}
    for arrival in arrivals:
        for entry in arrival.lines:
            entry["own"] = counts[entry["line"]]


def own_pieces(line: CartLine, arrivals: Iterable[Arrival]) -> int:
    """How many pieces of the line none of these arrivals brought. Trim the arrivals first."""
    brought = Counter[int]()
    for arrival in arrivals:
        for entry in arrival.lines:
            brought[entry["line"]] += entry["qty"]
    return line.qty - brought[line.pk]


def summarise_arrivals(arrivals: Sequence[Arrival], lines: Sequence[CartLine]) -> list[ArrivalSummary]:
    """Summarise each arrival: its items that are still in the basket, and those that did not fit. Arrivals with neither
    are left out."""
    trim_arrivals(arrivals, lines)
    names = {line.pk: line.name_snapshot for line in lines}
    summaries = [
        ArrivalSummary(
            arrival.pk,
            [{"name": names[entry["line"]], "qty": entry["qty"]} for entry in arrival.lines],
            arrival.missing,
            arrival.was_merged,
        )
        for arrival in arrivals
    ]
    return [summary for summary in summaries if summary.added or summary.missing]


def _recorded_own_pieces(line: CartLine, arrivals: Iterable[Arrival]) -> int:
    """The line's `own` in the latest arrival that has the line; 0 without one. Excludes pieces added since then."""
    counts = [entry["own"] for arrival in arrivals for entry in arrival.lines if entry["line"] == line.pk]
    return counts[-1] if counts else 0

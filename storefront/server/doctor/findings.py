from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

# Findings of one kind that are listed; the others are counted.
MAX_LISTED = 10


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


class Finding(NamedTuple):
    """The outcome of a check, as a sentence, and in `advice` what to do about it."""

    check: str
    state: State
    text: str
    advice: str = ""


def listed(findings: Iterable[Finding]) -> list[Finding]:
    """The first MAX_LISTED, and one that counts the others, which is as bad as the worst of them."""
    found = list(findings)
    shown, others = found[:MAX_LISTED], found[MAX_LISTED:]
    if others:
        state = State.MISSING if any(each.state == State.MISSING for each in others) else State.WARNING
        shown.append(Finding(others[0].check, state, f"{len(others)} more like these."))
    return shown

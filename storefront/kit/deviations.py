"""The findings of `storefront verify`: stored values that contradict others."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple


class Deviation(NamedTuple):
    """A stored value that contradicts others. `check` names the comparison, `object` the row, `stored` is its value,
    and `expected` the value that follows from other rows."""

    check: str
    object: str
    stored: str
    expected: str


def differing(check: str, object: str, stored: Any, expected: Any) -> Iterator[Deviation]:
    """The deviation, if the values differ."""
    if stored != expected:
        yield Deviation(check, object, _text(stored), _text(expected))


def _text(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, Decimal) else str(value)

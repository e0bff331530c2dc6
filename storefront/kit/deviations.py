"""What `storefront verify` finds: a stored value that others contradict."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple


class Deviation(NamedTuple):
    """`check` says what was compared, `object` names the row, `stored` is its value, and `expected` what it should be
    by the rows that explain it."""

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

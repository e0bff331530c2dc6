"""A bar chart as the page draws it: bars in an SVG that stretches, and texts around it in the page's font."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import count

from storefront.kit.format import format_round_money

# Labels below the bars; more would touch each other on a phone.
MAX_LABELS = 4


@dataclass(frozen=True)
class Bar:
    """A bar: its place from the left, its top and height of 100, and the text of its tooltip."""

    place: float
    top: float
    height: float
    text: str


@dataclass(frozen=True)
class Chart:
    bars: list[Bar]
    width: int
    axis: list[str]
    labels: list[str]


def bar_chart(amounts: Sequence[Decimal], labels: Sequence[str], texts: Sequence[str], currency: str) -> Chart:
    top = round_top(max(amounts))
    bars = []
    for place, (amount, label, text) in enumerate(zip(amounts, labels, texts, strict=True)):
        height = round(amount * 100 / top, 2)
        bars.append(Bar(place + 0.1, float(100 - height), float(height), f"{label}: {text}"))
    last = len(labels) - 1
    places = sorted({last * each // (MAX_LABELS - 1) for each in range(MAX_LABELS)})
    axis = [format_round_money(each, currency) for each in (top, top / 2, Decimal(0))]
    return Chart(bars, len(bars), axis, [labels[place] for place in places])


def round_top(most: Decimal) -> Decimal:
    """The end of the axis: 2, 4 or 10 times a power of ten, so that its half is a whole number too."""
    return next(top for power in count() for top in (Decimal(each) * 10**power for each in (2, 4, 10)) if top >= most)

"""Sets of products by what they have, as the index of filters and its slots keep them."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from pyroaring import BitMap64

# Prices in hundredths that one step has. A range of prices is whole steps, and single prices of two.
STEP = 256


@dataclass(slots=True)
class _Step:
    """The products with a price in this step, and those with each of its prices."""

    products: BitMap64 = field(default_factory=BitMap64)
    prices: defaultdict[int, BitMap64] = field(default_factory=lambda: defaultdict(BitMap64))


class Prices:
    """Products by their prices in hundredths. One can have several."""

    def __init__(self) -> None:
        self._steps: defaultdict[int, _Step] = defaultdict(_Step)

    def add(self, cents: int, ids: Collection[int]) -> None:
        step = self._steps[cents // STEP]
        step.products.update(ids)
        step.prices[cents].update(ids)

    def remove(self, gone: BitMap64) -> None:
        for number in [number for number, step in self._steps.items() if step.products.intersect(gone)]:
            step = self._steps[number]
            step.products -= gone
            without(step.prices, gone)
            if not step.products:
                del self._steps[number]

    def between(self, least: int | None, most: int | None) -> BitMap64:
        """The products with a price between these."""
        return BitMap64.union(BitMap64(), *self._between(least, most))

    def _between(self, least: int | None, most: int | None) -> Iterator[BitMap64]:
        for number, step in self._steps.items():
            first, last = number * STEP, number * STEP + STEP - 1
            if (most is not None and first > most) or (least is not None and last < least):
                continue
            if (least is None or first >= least) and (most is None or last <= most):
                yield step.products
                continue
            for cents, products in step.prices.items():
                if (least is None or cents >= least) and (most is None or cents <= most):
                    yield products

    def range_of(self, products: BitMap64) -> tuple[int, int] | None:
        """The lowest and the highest price of these products."""
        numbers = sorted(self._steps)
        lowest = next(filter(None, (self._of(number, products) for number in numbers)), None)
        highest = next(filter(None, (self._of(number, products) for number in reversed(numbers))), None)
        return (min(lowest), max(highest)) if lowest and highest else None

    def _of(self, number: int, products: BitMap64) -> list[int]:
        """The prices of these products in a step."""
        step = self._steps[number]
        if not step.products.intersect(products):
            return []
        return [cents for cents, having in step.prices.items() if having.intersect(products)]


def without(sets: dict, gone: BitMap64) -> None:
    """Take these products out of each set, and drop sets that become empty."""
    for key in [key for key, products in sets.items() if products.intersect(gone)]:
        sets[key] -= gone
        if not sets[key]:
            del sets[key]

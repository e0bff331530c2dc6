"""The variants of products whose variants differ in more than one way, for filters that one and the same variant has to
match: blue, size M, in stock, below 20 euros.

For all other products, sets of product ids are exact (`facet_index`). These here have a place for each variant: slot 0
has the sets of their first variants, slot 1 those of their second, and so on. So filters are intersected slot by slot.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyroaring import BitMap64

from storefront.listing.facet_rows import FacetRow, Unit
from storefront.listing.facet_sets import Prices, without


@dataclass(slots=True)
class Slot:
    """Sets of products by what their variant in this slot has. `values` are by the attribute's name and the value's, in
    lower case."""

    products: BitMap64 = field(default_factory=BitMap64)
    in_stock: BitMap64 = field(default_factory=BitMap64)
    on_sale: BitMap64 = field(default_factory=BitMap64)
    prices: Prices = field(default_factory=Prices)
    values: dict[str, defaultdict[str, BitMap64]] = field(default_factory=dict)

    def having(self, name: str, values: Iterable[str]) -> BitMap64:
        """The products whose variant has any of these values."""
        known = self.values.get(name)
        return BitMap64.union(BitMap64(), *(known[value] for value in values if value in known) if known else ())

    def add(self, units: Mapping[int, Unit]) -> None:
        """Add products by their id, all of a set at once."""
        self.products.update(units)
        self.in_stock.update(id for id, unit in units.items() if unit.sells)
        self.on_sale.update(id for id, unit in units.items() if unit.on_sale)
        prices: defaultdict[int, list[int]] = defaultdict(list)
        having: defaultdict[frozenset[tuple[str, str]], list[int]] = defaultdict(list)
        for id, unit in units.items():
            prices[unit.cents].append(id)
            having[unit.values].append(id)
        for cents, ids in prices.items():
            self.prices.add(cents, ids)
        for pairs, ids in having.items():
            for name, value in pairs:
                self.values.setdefault(name, defaultdict(BitMap64))[value].update(ids)

    def remove(self, gone: BitMap64) -> None:
        for each in (self.products, self.in_stock, self.on_sale):
            each -= gone
        self.prices.remove(gone)
        for values in self.values.values():
            without(values, gone)


class Slots:
    """The slots, and `products`, the set of the products that are in them."""

    def __init__(self) -> None:
        self.products = BitMap64()
        self._slots: list[Slot] = []

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._slots)

    def add(self, rows: Collection[FacetRow], is_filter: Callable[[str], bool]) -> None:
        """Add these products, without attributes that are no filters."""
        by_slot: list[dict[int, Unit]] = []
        for row in rows:
            by_slot += ({} for _ in range(len(row.units) - len(by_slot)))
            for units, unit in zip(by_slot, row.units, strict=False):
                units[row.id] = unit
        self._slots += (Slot() for _ in range(len(by_slot) - len(self._slots)))
        self.products.update(row.id for row in rows if row.units)
        for slot, units in zip(self._slots, by_slot, strict=False):
            slot.add(units)
        for slot in self._slots:
            for name in [name for name in slot.values if not is_filter(name)]:
                del slot.values[name]

    def remove(self, gone: BitMap64) -> None:
        if not self.products.intersect(gone):
            return
        self.products -= gone
        for slot in self._slots:
            if slot.products.intersect(gone):
                slot.remove(gone)

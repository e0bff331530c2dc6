"""Narrows a list down by filters of several kinds. Of a product's variants, one has to match all of them."""

from collections.abc import Iterable, Mapping, Sequence

from pyroaring import BitMap64

from storefront.listing.facet_index import FacetIndex


class Narrowing:
    """The list `base` under chosen filters, or under all of them but one, as counts of that one need it.

    `sets` has the products that each filter allows, by its kind. They are exact for all products but those in the
    index's slots, and for these as long as a single filter is about variants; otherwise `slot_sets` decide, which
    have those filters for the variants in each slot.
    """

    def __init__(
        self, index: FacetIndex, sets: Mapping[str, BitMap64], slot_sets: Mapping[str, list[BitMap64]]
    ) -> None:
        self.index, self.sets, self.slot_sets = index, sets, slot_sets
        self.base = BitMap64()
        self._others: dict[str, BitMap64] = {}
        self._split: dict[str, tuple[BitMap64, list[BitMap64]]] = {}

    def of_variants(self, without: str) -> set[str]:
        """The kinds of the chosen filters about variants, but for one."""
        return self.slot_sets.keys() - {without}

    def narrowed(self, base: BitMap64, without: str = "") -> BitMap64:
        """The products of a list that match all filters but one."""
        found = base.copy()
        for kind, each in self.sets.items():
            if kind != without:
                found &= each
        if len(self.of_variants(without)) > 1 and found.intersect(self.index.slots.products):
            found -= self.index.slots.products - BitMap64.union(BitMap64(), *self._matching(without))
        return found

    def others(self, kind: str) -> BitMap64:
        """The list without its filter of this kind."""
        kind = kind if kind in self.sets else ""
        if kind not in self._others:
            self._others[kind] = self.narrowed(self.base, kind)
        return self._others[kind]

    def split(self, kind: str) -> tuple[BitMap64, list[BitMap64]]:
        """The same: the products of which a set of products is exact, and those of each slot whose variant there
        matches."""
        kind = kind if kind in self.sets else ""
        if kind not in self._split:
            products, whole, by_slot = self.others(kind), self.others(kind), []
            if self.of_variants(kind):
                whole = products - self.index.slots.products
                by_slot = [products & each for each in self._matching(kind)]
            self._split[kind] = whole, by_slot
        return self._split[kind]

    def count(self, kind: str, having: BitMap64, having_by_slot: Sequence[BitMap64]) -> int:
        """How many products the list has with one more filter, instead of its own of this kind."""
        whole, by_slot = self.split(kind)
        pairs = zip(by_slot, having_by_slot, strict=False)
        return whole.intersection_cardinality(having) + len(
            BitMap64.union(BitMap64(), *(matching & each for matching, each in pairs if matching))
        )

    def _matching(self, without: str) -> Iterable[BitMap64]:
        """By slot: the products whose variant in it matches all filters but one."""
        kinds = self.of_variants(without)
        return [BitMap64.intersection(*each) for each in zip(*(self.slot_sets[kind] for kind in kinds), strict=True)]

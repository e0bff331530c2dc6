"""What this process knows of a shop's products to filter and count them: a set of product ids for each value.

An index is read whole once, and from then on follows the log of changes (`sync.log`), which every write appends to in
its own transaction: so it is as current as the database, and costs one indexed read where nothing has changed. Sets are
compressed (`pyroaring`); a hundred thousand products take some megabytes.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, RLock

from pyroaring import BitMap64

from storefront.kit.lru import LruCache
from storefront.listing.facet_rows import FacetRow, Fetch, read_all_rows, read_rows
from storefront.listing.facet_sets import Prices, without
from storefront.listing.facet_slots import Slots
from storefront.shops.models import Shop
from storefront.sync import log
from storefront.sync.cursors import RETENTION

# With more changed products at once, the index is read again.
MAX_CHANGED = 20_000
# An attribute with more values than these, such as a number that every product has for itself, is no filter.
MAX_VALUES = 1000
# How many shops' indexes a process keeps.
MAX_SHOPS = 64
# Products that are read at once, and, while nobody waits for them, how many times as long as that took the reader then
# rests, so that requests that need no index get the interpreter.
BATCH_ROWS, REST = 500, 3


@dataclass(slots=True)
class ValueSet:
    """The products that have a value of an attribute, and those of them whose variants with it cannot be bought."""

    label: str
    products: BitMap64 = field(default_factory=BitMap64)
    unsellable: BitMap64 = field(default_factory=BitMap64)


@dataclass(slots=True)
class Attribute:
    """An attribute, and its values by their name in lower case: none, once there were too many."""

    label: str
    values: dict[str, ValueSet] = field(default_factory=dict)
    has_too_many: bool = False


class FacetIndex:
    """The products that a shop lists, whatever their dates, by what they can be filtered by. `attributes` are by their
    name in lower case. `slots` have the single variants of products where it matters which of
    them has what."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.lock = RLock()
        # Set once a page needs the index.
        self.wanted = Event()
        self._read_at: datetime | None = None
        self._clear()

    def _clear(self) -> None:
        self.listed, self.in_stock, self.on_sale = BitMap64(), BitMap64(), BitMap64()
        self.prices = Prices()
        self.brands: defaultdict[int, BitMap64] = defaultdict(BitMap64)
        self.categories: defaultdict[int, BitMap64] = defaultdict(BitMap64)
        self.attributes: dict[str, Attribute] = {}
        self.slots = Slots()
        self._dated: dict[int, tuple[datetime | None, datetime | None]] = {}
        # When the prices of a product next change by a date.
        self._turns: dict[int, datetime] = {}
        self._bundles: defaultdict[int, set[int]] = defaultdict(set)
        self._position, self._generation = (0, 0), 0
        # Changes after the position that were already read.
        self._seen: dict[log.Position, int] = {}

    def refresh(self, fetch: Fetch, now: datetime) -> None:
        """Make the index that of what the database has now. Call it with the lock. After an error, the next call reads
        it whole, since this one may have stopped anywhere."""
        try:
            self._refresh(fetch, now)
        except BaseException:
            self._read_at = None
            raise

    def warm(self, fetch: Fetch, now: datetime) -> None:
        """Read the index whole, with rests for as long as no page needs it. Call it with the lock."""
        try:
            began = time.monotonic()
            for _ in self._read_whole(fetch, now):
                self.wanted.wait(REST * (time.monotonic() - began))
                began = time.monotonic()
        except BaseException:
            self._read_at = None
            raise

    def _refresh(self, fetch: Fetch, now: datetime) -> None:
        changes = None
        if self._read_at is not None and now - self._read_at < RETENTION - timedelta(days=1):
            changes = log.unread(
                self.shop, "product", self._position, self._generation, set(self._seen), count=MAX_CHANGED
            )
        if changes is None:
            for _ in self._read_whole(fetch, now):
                pass
            return
        self._position = changes.complete_to
        self._seen = {at: id for at, id in (self._seen | changes.objects).items() if at > changes.complete_to}
        self._read_at = now
        # A bundle's stock is that of its items.
        changed = {*changes.objects.values(), *(id for id, at in self._turns.items() if at <= now)}
        changed |= {bundle for id in changed & self._bundles.keys() for bundle in self._bundles[id]}
        if changed:
            self._replace(changed, read_rows(fetch, self.shop, changed, now), now)

    def hidden(self, now: datetime) -> BitMap64:
        """The products that a date hides now."""
        return BitMap64(
            id
            for id, (starts, ends) in self._dated.items()
            if (starts is not None and starts > now) or (ends is not None and ends <= now)
        )

    def of_categories(self, categories: Iterable[int]) -> BitMap64:
        """The products in any of these categories."""
        sets = [self.categories[id] for id in categories if id in self.categories]
        return BitMap64.union(*sets) if sets else BitMap64()

    def _read_whole(self, fetch: Fetch, now: datetime) -> Iterator[None]:
        """Read the index whole, a batch of products at a time; yields after each."""
        # Before the rows: what changes meanwhile is read again.
        horizon = log.settled(self.shop)
        self._clear()
        self._position, self._generation, self._read_at = horizon.position, horizon.generation, now
        for rows in read_all_rows(fetch, self.shop, BATCH_ROWS, now):
            self._add(rows, now)
            yield

    def _replace(self, ids: Collection[int], rows: list[FacetRow], now: datetime) -> None:
        gone = BitMap64(ids)
        self.listed -= gone
        self.in_stock -= gone
        self.on_sale -= gone
        self.prices.remove(gone)
        for sets in (self.brands, self.categories):
            without(sets, gone)
        self.slots.remove(gone)
        for attribute in self.attributes.values():
            for each in [each for each in attribute.values.values() if each.products.intersect(gone)]:
                each.products -= gone
                each.unsellable -= gone
                if not each.products:
                    del attribute.values[each.label.casefold()]
        for id in ids:
            self._dated.pop(id, None)
            self._turns.pop(id, None)
        self._add(rows, now)

    def _add(self, rows: list[FacetRow], now: datetime) -> None:
        self.listed.update(row.id for row in rows)
        self.in_stock.update(row.id for row in rows if row.sells)
        self.on_sale.update(row.id for row in rows if row.on_sale)
        for cents, ids in _by_key((cents, row.id) for row in rows for cents in row.prices):
            self.prices.add(cents, ids)
        for brand, ids in _by_key((row.brand, row.id) for row in rows if row.brand is not None):
            self.brands[brand].update(ids)
        for category, ids in _by_key((category, row.id) for row in rows for category in row.categories):
            self.categories[category].update(ids)
        for row in rows:
            if row.ends is not None or (row.starts is not None and row.starts > now):
                self._dated[row.id] = row.starts, row.ends
            if row.turns is not None:
                self._turns[row.id] = row.turns
            for item in row.items:
                self._bundles[item].add(row.id)
        self._add_values(rows)
        self.slots.add(rows, lambda name: not self.attributes[name].has_too_many)

    def _add_values(self, rows: list[FacetRow]) -> None:
        having: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        lacking: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for row in rows:
            for pair, sells in row.values.items():
                (having if sells else lacking)[pair].append(row.id)
        for pair, ids in having.items():
            self._value(pair).products.update(ids)
        for pair, ids in lacking.items():
            value = self._value(pair)
            # Another spelling of the value may be one that can be bought.
            value.unsellable |= BitMap64(ids) - value.products
            value.products.update(ids)

    def _value(self, pair: tuple[str, str]) -> ValueSet:
        """The value's set, which the index keeps unless its attribute has too many."""
        name, value = (text.strip() for text in pair)
        attribute = self.attributes.setdefault(name.casefold(), Attribute(name))
        found = attribute.values.get(value.casefold()) or ValueSet(value)
        if not attribute.has_too_many:
            attribute.values[value.casefold()] = found
            if len(attribute.values) > MAX_VALUES:
                attribute.has_too_many, attribute.values = True, {}
        return found


def _by_key(pairs: Iterable[tuple[int, int]]) -> Iterable[tuple[int, list[int]]]:
    """The products of each key, so that a set gets all of them at once."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for key, id in pairs:
        found[key].append(id)
    return found.items()


_indexes: LruCache[FacetIndex] = LruCache(MAX_SHOPS)


def index_of(shop: Shop) -> FacetIndex:
    """The shop's index in this process, as it was when it was last refreshed."""
    return _indexes.get_current(shop.pk, lambda _: True, lambda: FacetIndex(shop))


def clear_indexes() -> None:
    """Forget all indexes, as in a new process."""
    _indexes.clear()

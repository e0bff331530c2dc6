"""Reads a page of the product list with two statements, whatever the size of the shop and the depth of the page.

1. The list's version and total. In the moment when dates begin to hide products, this takes two statements.
2. The rows of the page. A page of the whole list is read from the nearest anchor, a page of a filtered list by the
   cached ids of its products, if there are any.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from threading import Lock
from typing import Any, Generic, TypeVar

from pyroaring import BitMap64

from storefront.catalogue.awaited_texts import words_to_find
from storefront.catalogue.search_texts import SearchWord
from storefront.kit.lru import LruCache
from storefront.listing import known_matches, page_sql
from storefront.listing.dialect import dialect
from storefront.listing.orders import AT_ONCE
from storefront.listing.page_cache import Anchors, Validity
from storefront.listing.words_sql import MAX_LONG_WORDS, MAX_SHORT_WORDS, Shape, match, names_of, words_parameter

Fetch = Callable[..., list[tuple]]
T = TypeVar("T")

# The search index holds runs of three characters.
INDEXED_WORD = 3
# Rows that a page may skip before it is worth reading anchors nearer to it.
DEEP_OFFSET_ROWS = 4000
# The order of a search by relevance, and how many matches are ranked at most: each one's text is read.
RELEVANCE, MAX_RANKED = "relevance", 2000
# Least number of rows between the anchors that one pass over the whole list adds.
ANCHOR_STEP_ROWS = 1000
# Ids of the whole list that a page of a filtered list reads first. Each further step doubles what is known.
ORDER_STEP_ROWS = 2000
# Matches that are sorted rather than looked for along the whole list, and rows of it that are looked at for a page.
MAX_SORTED, MAX_EXAMINED = 2000, 50_000


@dataclass(frozen=True, kw_only=True)
class ProductFilters:
    """The filters and the order of a product list. `sort` is a key of `orders.ORDERS`, or RELEVANCE: the products
    that match the words of `q` best come first. Without words, and with more than MAX_RANKED matches, that is the
    default order.

    `for_shoppers`: `q` as on the shop's pages (`search_words`), where the markup of descriptions is not searched.
    `with_subcategories` includes the products of the categories below `category`. `members` are those of the records;
    None: those that lists show. `language` is that of the texts and of `q`, if it is not the shop's main one.
    """

    q: str = ""
    for_shoppers: bool = False
    category: str | None = None
    with_subcategories: bool = False
    featured: bool = False
    sort: str | None = None
    updated_since: datetime | None = None
    ids: tuple[int, ...] | None = None
    members: frozenset[str] | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    """What was read of a list, which holds while the list has not changed."""

    validity: Validity
    value: T


@dataclass(frozen=True, slots=True)
class _Order:
    """The beginning of the whole list in an order, as ids."""

    validity: Validity
    ids: "array[int]"
    lock: Lock = field(default_factory=Lock)


# By shop: how many products it listed at the last read.
_sizes: LruCache[int] = LruCache(4096)
# By shop and filters: how many products there are; about half a kilobyte each.
_totals: LruCache[_Kept[int]] = LruCache(4096)
# By shop: whether dates hid any product at the last read.
_dates_hide: LruCache[bool] = LruCache(4096)
# By shop and order; up to about 600 kB each, and that only where a large shop is read to its end.
_anchors: LruCache[Anchors] = LruCache(32)
# By shop, filters, order, offset and limit: the ids of a page as a statement takes them, in one text, since a list of a
# hundred numbers takes four times as much memory. A kilobyte each, up to two for a hundred products.
_pages: LruCache[_Kept[str]] = LruCache(2048)
# By shop and search: the ids of what it finds, whatever its dates; about two bytes a product.
_matches: LruCache[_Kept[BitMap64]] = LruCache(64)
# By shop and order; eight bytes a product.
_orders: LruCache[_Order] = LruCache(32)


def clear_caches() -> None:
    """Empty all caches, as in a new process."""
    _matches.clear()
    _orders.clear()
    _totals.clear()
    _dates_hide.clear()
    _sizes.clear()
    _pages.clear()
    _anchors.clear()


def _is_indexed(word: SearchWord) -> bool:
    return min(map(len, word.texts)) >= INDEXED_WORD


class Listing:
    """One shop's list with its filters. The words are in these `languages` (`search_words`); `moment` and `since` are
    as the database compares them."""

    def __init__(
        self, fetch: Fetch, shop: int, languages: Sequence[str], filters: ProductFilters, moment: Any, since: Any
    ) -> None:
        self.fetch, self.sort, self.shop, self.moment = fetch, filters.sort, shop, moment
        self.members = filters.members
        words = words_to_find(fetch, shop, filters.q, *languages, for_shoppers=filters.for_shoppers)
        # Words with most texts come first, so that searches need few different statements.
        words = tuple(sorted(words, key=lambda word: -len(word.texts)))
        long = [word for word in words if _is_indexed(word)]
        short = [word for word in words if not _is_indexed(word)]
        category = None if filters.category is None else "branch" if filters.with_subcategories else "alone"
        separate = long[:MAX_LONG_WORDS], short[:MAX_SHORT_WORDS]
        rest = [*long[MAX_LONG_WORDS:], *short[MAX_SHORT_WORDS:]]
        self.words = long
        # The ids of a search's matches, whatever their dates, if they were just found.
        self.matches: BitMap64 | None = None
        has_ids = filters.ids is not None
        self.shape = Shape(
            category=category,
            featured=filters.featured,
            since=since is not None,
            ids=has_ids,
            long_words=tuple(len(word.texts) for word in separate[0]),
            short_words=tuple(len(word.texts) for word in separate[1]),
            rest=bool(rest),
            visible=filters.for_shoppers and bool(words),
        )
        if self.sort == RELEVANCE and not self.shape.has_words:
            self.sort = None
        # Until when what was read holds, unless somebody writes; None: for ever.
        self.until: Any = None
        # Whether what the list has is worth remembering for the next read.
        self.is_cached = since is None and not has_ids
        self.key = (shop, filters.category, category, filters.featured, self.shape.visible, *words)
        self.params = {"shop": shop, "now": moment, "category": filters.category, "since": since}
        self.params["wanted"] = dialect.ids_parameter(filters.ids or ())
        self.params["match"] = " AND ".join(match(word.texts) for word in long)
        self.params["rest"] = words_parameter(word.texts for word in rest)
        for kind, each in zip(("word", "short"), separate, strict=True):
            for number, word in enumerate(each):
                named = dict(zip(names_of(f"{kind}{number}", len(word.texts)), word.texts, strict=True))
                self.params |= named | {f"sought_{name}": dialect.sought(text) for name, text in named.items()}

    def page(self, *, offset: int, limit: int) -> tuple[list[tuple], int]:
        """The rows of a page and the total. A row is a record as JSON, followed by its sort columns."""
        validity, products, total = self._state()
        if offset >= total:
            return [], total
        params = {**self.params, "limit": limit, "offset": offset, "span": offset + limit}
        if self.shape.is_unfiltered:
            return self._unfiltered_page(validity, total, params), total
        return self._filtered_page(validity, products, total, params), total

    def first_rows(self, limit: int) -> list[tuple]:
        """The first rows of the list, without its total."""
        if not self.shape.is_unfiltered or self.sort in AT_ONCE:
            return self.page(offset=0, limit=limit)[0]
        params = {**self.params, "limit": limit, "offset": 0, "span": limit}
        return self._rows(page_sql.scanned_page(self.shape, self.sort, False, self.members), params)

    def match_ids(self) -> BitMap64 | None:
        """The ids of the products that the search finds, whatever their dates; None without words."""
        if not self.shape.has_words:
            return None
        cached = _matches.get(self.key)
        if cached is not None:
            (*dated, _, _, _, _), *_ = self.fetch(page_sql.stored_state(Shape()), self.params)
            if cached.validity.covers(self._validity(*dated)):
                return cached.value
        if found := self._known():
            *dated, _, _ = found.state
            cached = _Kept(self._validity(*dated), found.ids)
        else:
            (*dated, _, _, _, ids), *_ = self._rows(page_sql.all_matches(self.shape), self.params)
            cached = _Kept(self._validity(*dated), BitMap64(map(int, ids.split(",") if ids else ())))
        _matches.put(self.key, cached)
        return cached.value

    def _known(self) -> known_matches.KnownMatches | None:
        """What the search finds, if its words are counted."""
        if not self.has_known_words:
            return None
        return known_matches.known_matches(self.fetch, self.shape, self.words, self.params)

    @property
    def has_known_words(self) -> bool:
        """Whether the words of this search may be counted."""
        is_large = (_sizes.get(self.shop) or 0) >= known_matches.LARGE_SHOP
        return dialect.COUNTS_WORDS and is_large and known_matches.is_known(self.shape)

    def page_among(self, ids: BitMap64, *, offset: int, limit: int) -> list[tuple]:
        """The rows of a page of those products of the whole list that have these ids, which are many."""
        validity, total, _ = self._state()
        return self._page_among(validity, total, ids, offset, limit)

    def _page_among(self, validity: Validity, total: int, ids: BitMap64, offset: int, limit: int) -> list[tuple]:
        order = _orders.get_current(
            (self.shop, self.sort),
            lambda existing: existing.validity.covers(validity),
            lambda: _Order(validity, array("Q")),
        )
        with order.lock:
            found = list(islice((id for id in order.ids if id in ids), offset + limit))
            while len(found) < offset + limit and len(order.ids) < total:
                params = {**self.params, "limit": max(ORDER_STEP_ROWS, len(order.ids)), "offset": len(order.ids)}
                step = [id for (id,) in self.fetch(page_sql.ordered_ids(self.sort), params)]
                if not step:
                    break
                order.ids.extend(step)
                found += [id for id in step if id in ids]
        wanted = dialect.ids_parameter(found[offset : offset + limit])
        statement = page_sql.page_by_ids(self.sort, self.members)
        return self.fetch(statement, {"shop": self.shop, "now": self.moment, "ids": wanted})

    def _rows(self, statement: str, params: dict[str, Any]) -> list[tuple]:
        # Other statements are not prepared: their best plan depends on how many rows a word or a category has.
        return self.fetch(statement, params, prepared=self.shape.has_stored_total)

    def _state(self) -> tuple[Validity, int, int]:
        """The list's validity, how many products the shop lists without filters, and how many with them. Sets
        `matches`."""
        if self.shape.has_stored_total and _dates_hide.get(self.shop) is False:
            # Without a count of what dates hide: PostgreSQL would plan it again each time, which takes longer than
            # running it.
            (*dated, hides, products, total, _), *_ = self.fetch(page_sql.stored_state(self.shape), self.params)
            _sizes.put(self.shop, products)
            if not hides:
                return self._validity(*dated), products, total
        cached = _totals.get(self.key) if self.is_cached and not self.shape.has_stored_total else None
        if cached is not None and not cached.validity.includes(self.moment):
            cached = None
        if self.has_known_words and (known := self._known_state(cached)):
            return known
        if cached is None:
            cached = _Kept(Validity(-1, None, None), 0)
        params = {**self.params, "cached_version": cached.validity.version, "cached_total": cached.value}
        # Without a count of what dates hide, as above; they may have begun to since, which the result shows.
        nothing_hidden = known_matches.is_known(self.shape) and _dates_hide.get(self.shop) is False
        if nothing_hidden:
            rows = self.fetch(page_sql.state(self.shape, nothing_hidden=True), params)
        if not nothing_hidden or rows[0][page_sql.HIDES]:
            rows = self._rows(page_sql.state(self.shape), params)
        (*dated, hides, products, total, matches), *_ = rows
        if matches is not None:
            self.matches = BitMap64(map(int, matches.split(",")))
        validity = self._validity(*dated)
        _dates_hide.put(self.shop, bool(hides))
        _sizes.put(self.shop, products)
        if validity.version != cached.validity.version:
            self._keep_total(validity, total)
        return validity, products, total

    def _known_state(self, cached: _Kept[int] | None) -> tuple[Validity, int, int] | None:
        """The same for a search whose words are counted, or whose total has not changed."""
        if cached is not None:
            (*dated, _, products, _, _), *_ = self.fetch(page_sql.stored_state(Shape()), self.params)
            if cached.validity.covers(self._validity(*dated)):
                return self._validity(*dated), products, cached.value
        found = self._known()
        if found is None:
            return None
        *dated, _, products = found.state
        validity, total = self._validity(*dated), len(found.ids) - found.ids.intersection_cardinality(found.hidden)
        self.matches = found.ids
        _matches.put(self.key, _Kept(validity, found.ids))
        self._keep_total(validity, total)
        return validity, products, total

    def _keep_total(self, validity: Validity, total: int) -> None:
        if self.is_cached and not self.shape.has_stored_total:
            _totals.put(self.key, _Kept(validity, total))

    def _validity(self, version: int, *dates: Any) -> Validity:
        """The validity of what was read with these columns. Notes in the list until when it holds, and which order it
        has."""
        self.until = min((at for at in dates if at is not None), default=None)
        if any(at is not None and at <= self.moment for at in dates):
            self.sort = AT_ONCE.get(self.sort, self.sort)
        return Validity(version, self.moment, self.until)

    def _filtered_page(self, validity: Validity, products: int, total: int, params: dict[str, Any]) -> list[tuple]:
        offset, limit = params["offset"], params["limit"]
        found_by = self.shape
        matches = self._known_matches(validity)
        if matches is not None and len(matches) <= page_sql.MAX_MATCHES:
            found_by = Shape(ids=True)
            params["wanted"] = dialect.ids_parameter(matches)
        if self.sort == RELEVANCE:
            if total <= MAX_RANKED:
                return self._rows(page_sql.ranked_page(self.shape, found_by, self.members), params)
            self.sort = None
        key = (*self.key, self.sort, offset, limit)
        cached = _pages.get(key) if self.is_cached else None
        if cached is not None and cached.validity.covers(validity):
            statement = page_sql.page_by_ids(self.sort, self.members)
            return self.fetch(statement, {"shop": self.shop, "now": self.moment, "ids": cached.value})
        looked_at = (offset + limit) * products // total
        if matches and not offset and len(matches) <= limit:
            ids = dialect.few_ids_parameter(matches)
            statement = page_sql.page_by_ids(self.sort, self.members)
            rows = self.fetch(statement, {"shop": self.shop, "now": self.moment, "ids": ids})
        elif matches and len(matches) > MAX_SORTED and looked_at < MAX_EXAMINED:
            rows = self._page_among(validity, products, matches, offset, limit)
        elif self.shape.has_filter_index and looked_at > total:
            # A scan would look at more rows than there are to sort.
            rows = self._rows(page_sql.sorted_page(found_by, self.sort, self.members), params)
        else:
            rows = self._rows(page_sql.scanned_page(self.shape, self.sort, False, self.members), params)
        if self.is_cached:
            # The id is the last of a row's sort columns.
            ids = dialect.ids_parameter(row[-1] for row in rows)
            _pages.put(key, _Kept(validity, ids))
        return rows

    def _known_matches(self, validity: Validity) -> BitMap64 | None:
        """The ids of the products that the search finds, if they were just found, or if they are many and known."""
        if self.matches is None:
            cached = _matches.get(self.key) if self.is_cached and self.shape.has_words else None
            return cached.value if cached is not None and cached.validity.covers(validity) else None
        if self.is_cached and len(self.matches) > MAX_SORTED:
            # For its further pages.
            _matches.put(self.key, _Kept(validity, self.matches))
        return self.matches

    def _unfiltered_page(self, validity: Validity, total: int, params: dict[str, Any]) -> list[tuple]:
        offset, limit = params["offset"], params["limit"]
        anchors = _anchors.get_current(
            (self.shop, self.sort),
            lambda existing: existing.validity.covers(validity),
            lambda: Anchors(validity),
        )
        position, key = anchors.before(offset)
        if offset - position > DEEP_OFFSET_ROWS:
            anchors.far_reads += 1
            # The first far read may be the only one. After the second, more are likely.
            if anchors.far_reads == 2:
                self._add_anchors(anchors, total)
                position, key = anchors.before(offset)
        params |= {"offset": offset - position, "span": offset - position + limit}
        params |= {f"a{number}": value for number, value in enumerate(key or ())}
        rows = self.fetch(page_sql.scanned_page(self.shape, self.sort, key is not None, self.members), params)
        if len(rows) == limit:
            anchors.add(offset + limit, rows[-1][1:])
        return rows

    def _add_anchors(self, anchors: Anchors, total: int) -> None:
        step = max(ANCHOR_STEP_ROWS, total // (Anchors.MAX_PLACES // 2))
        for position, *key in self.fetch(page_sql.positions(self.sort), {**self.params, "step": step}):
            anchors.add(position, tuple(key))

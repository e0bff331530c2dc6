"""How a page of the product list is read: two statements, whatever the size of the shop and the depth of the page.

The first tells the list's version and its total, or two do at the moment when dates begin to hide something; the other
reads the page: of the whole list from the nearest place that is known, of a filtered one by the products that are known
to stand there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storefront.catalogue import listing_sql, rules
from storefront.catalogue.listing_sql import Shape
from storefront.catalogue.remembered import Anchors, Remembered, Standing

Fetch = Callable[..., list[tuple]]

# The search index holds runs of three characters.
INDEXED_WORD = 3
# How many rows a page may skip over before it is worth knowing places nearer to it.
FAR = 4000
# Rows between the places that one walk along the whole list makes known, at least.
STEP = 1000


@dataclass(frozen=True, kw_only=True)
class ProductFilters:
    """What a product list is narrowed to and ordered by. `sort` is a key of `listing_sql.ORDERS`.

    `with_subcategories` takes in what only stands in a category under `category`.
    """

    q: str = ""
    category: str | None = None
    with_subcategories: bool = False
    featured: bool = False
    sort: str | None = None
    updated_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Total:
    standing: Standing
    total: int


@dataclass(frozen=True, slots=True)
class _Page:
    """Which products stand on a page: their ids as a statement takes them, in one text, since a hundred numbers in a
    list take four times as much memory."""

    standing: Standing
    ids: str


# By shop and filters; about half a kilobyte each.
_totals: Remembered[_Total] = Remembered(4096)
# Whether dates hid anything of a shop when it was last looked at.
_hiding: Remembered[bool] = Remembered(4096)
# By shop and order; each up to about 600 kB, and that only where a whole large shop is read.
_anchors: Remembered[Anchors] = Remembered(32)
# By shop, filters, order and place; a kilobyte each, of a hundred products up to two.
_pages: Remembered[_Page] = Remembered(2048)


def forget() -> None:
    """Start from nothing, as a new process does."""
    _totals.clear()
    _hiding.clear()
    _pages.clear()
    _anchors.clear()


class Listing:
    """One shop's list with its filters. `moment` and `since` are as the database compares them."""

    def __init__(self, fetch: Fetch, vendor: str, shop: int, filters: ProductFilters, moment: Any, since: Any) -> None:
        self.fetch, self.sort, self.shop, self.moment = fetch, filters.sort, shop, moment
        words = rules.search_words(filters.q)
        long = [word for word in words if len(word) >= INDEXED_WORD]
        short = [word for word in words if len(word) < INDEXED_WORD]
        category = None if filters.category is None else "branch" if filters.with_subcategories else "alone"
        self.shape = Shape(vendor, category, filters.featured, since is not None, len(long), len(short))
        self.key = (shop, filters.category, category, filters.featured, " ".join(words))
        self.params = {"shop": shop, "now": moment, "category": filters.category, "since": since}
        self.params["match"] = " AND ".join('"{}"'.format(word.replace('"', '""')) for word in long)
        for number, word in enumerate(long):
            self.params[f"word{number}"], self.params[f"like{number}"] = word, rules.like_pattern(word)
        self.params |= {f"short{number}": word for number, word in enumerate(short)}

    def page(self, *, offset: int, limit: int) -> tuple[list[tuple], int]:
        """The rows of a page, each a record as JSON and its sort columns, and how many there are on all."""
        standing, products, total = self._state()
        if offset >= total:
            return [], total
        params = {**self.params, "limit": limit, "offset": offset, "span": offset + limit}
        if self.shape.is_whole:
            return self._whole_page(standing, total, params), total
        return self._filtered_page(standing, products, total, params), total

    def first(self, limit: int) -> list[tuple]:
        """The first rows of the list, for whoever has no use for its total."""
        if not self.shape.is_whole:
            return self.page(offset=0, limit=limit)[0]
        params = {**self.params, "limit": limit, "offset": 0, "span": limit}
        return self._rows(listing_sql.walked_page(self.shape, self.sort, False), params)

    def _rows(self, statement: str, params: dict[str, Any]) -> list[tuple]:
        # How many rows a word or a category has decides how they are best found.
        return self.fetch(statement, params, prepared=self.shape.is_kept)

    def _state(self) -> tuple[Standing, int, int]:
        """What the list is now, how many products the shop lists without filters, and how many with them."""
        if self.shape.is_kept and _hiding.get(self.shop) is False:
            # What dates hide is not counted then: PostgreSQL would plan that anew each time, for longer than it takes.
            (*dated, hides, products, total), *_ = self.fetch(listing_sql.kept_state(self.shape), self.params)
            if not hides:
                return self._standing(*dated), products, total
        known = None if self.shape.is_kept or self.shape.since else _totals.get(self.key)
        if known is None or not known.standing.holds(self.moment):
            known = _Total(Standing(-1, None, None), 0)
        params = {**self.params, "known_version": known.standing.version, "known_total": known.total}
        (*dated, hides, products, total), *_ = self._rows(listing_sql.state(self.shape), params)
        standing = self._standing(*dated)
        _hiding.put(self.shop, bool(hides))
        if not self.shape.is_kept and not self.shape.since and standing.version != known.standing.version:
            _totals.put(self.key, _Total(standing, total))
        return standing, products, total

    def _standing(self, version: int, starts: Any, ends: Any) -> Standing:
        return Standing(version, self.moment, min((at for at in (starts, ends) if at is not None), default=None))

    def _filtered_page(self, standing: Standing, products: int, total: int, params: dict[str, Any]) -> list[tuple]:
        offset, limit = params["offset"], params["limit"]
        key = (*self.key, self.sort, offset, limit)
        known = None if self.shape.since else _pages.get(key)
        if known is not None and known.standing.covers(standing):
            statement = listing_sql.known_page(self.shape.vendor, self.sort)
            return self.fetch(statement, {"shop": self.shop, "now": self.moment, "ids": known.ids})
        statement = listing_sql.walked_page(self.shape, self.sort, False)
        if self.shape.is_gatherable and (offset + limit) * products > total * total:
            # Walking would look at more rows than there are to gather.
            statement = listing_sql.gathered_page(self.shape, self.sort)
        rows = self._rows(statement, params)
        if not self.shape.since:
            _pages.put(key, _Page(standing, listing_sql.ids_on(self.shape.vendor, rows)))
        return rows

    def _whole_page(self, standing: Standing, total: int, params: dict[str, Any]) -> list[tuple]:
        offset, limit = params["offset"], params["limit"]
        anchors = _anchors.renew(
            (self.shop, self.sort),
            lambda kept: kept.standing.covers(standing),
            lambda: Anchors(standing),
        )
        place, key = anchors.before(offset)
        if offset - place > FAR:
            anchors.far_reads += 1
            # Once may be chance; whoever does it again will go on.
            if anchors.far_reads == 2:
                self._learn_places(anchors, total)
                place, key = anchors.before(offset)
        params |= {"offset": offset - place, "span": offset - place + limit}
        params |= {f"a{number}": value for number, value in enumerate(key or ())}
        rows = self.fetch(listing_sql.walked_page(self.shape, self.sort, key is not None), params)
        if len(rows) == limit:
            anchors.add(offset + limit, rows[-1][1:])
        return rows

    def _learn_places(self, anchors: Anchors, total: int) -> None:
        step = max(STEP, total // (Anchors.MOST // 2))
        for place, *key in self.fetch(listing_sql.places(self.sort), {**self.params, "step": step}):
            anchors.add(place, tuple(key))

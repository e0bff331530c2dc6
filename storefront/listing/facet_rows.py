# ruff: noqa: S608, the statements consist of conditions of this package and of numbers; values are parameters.
"""Reads what the filters of product lists need of products: of all that a shop lists, or of some."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from storefront.catalogue.dated import dates
from storefront.catalogue.digital_files import without_file
from storefront.catalogue.models import BundleItem
from storefront.listing.sql import LISTABLE
from storefront.shops.models import Shop
from storefront.sync.log import as_stored, as_utc

Fetch = Callable[..., list[tuple]]

# Names and values of attributes that are longer are no filters.
MAX_VALUE_LENGTH = 100

_P, _V = dates.product_columns("p"), dates.sale_columns("v")
_SELLS = "(NOT {0}.track_inventory OR {0}.allow_backorders OR {0}.stock_qty > 0)"
# The pluses keep SQLite from reading all rows of the shop by its index: those of some products are wanted.
_PRODUCTS = (
    f"SELECT p.id, p.type, {_P['price']}, ({_P['compare_price']}) > ({_P['price']}),"
    f" {_SELLS.format('p')}, p.brand_id, CAST(p.attributes AS text), p.publish_at, p.unpublish_at,"
    f" {dates.next_sale_turn('p')}"
    f" FROM catalogue_product p WHERE +p.shop_id = %(shop)s AND {LISTABLE}"
)
_VARIANTS = (
    f"SELECT v.product_id, {_V['price']}, ({_V['compare_price']}) > ({_V['price']}),"
    f" {_SELLS.format('v')}, CAST(v.option_values AS text), {dates.next_sale_turn('v')}"
    " FROM catalogue_variant v WHERE +v.shop_id = %(shop)s AND v.is_active"
)
_CATEGORIES = "SELECT l.product_id, l.category_id FROM catalogue_productcategory l WHERE +l.shop_id = %(shop)s"
# The next ids of the products that the shop lists. Many at once: SQLite sorts all of the shop for them.
_IDS = (
    f"SELECT p.id FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE} AND p.id > %(last)s"
    " ORDER BY p.id LIMIT 100000"
)
# The least that each required option adds to the price.
_OPTIONS = (
    "SELECT o.product_id, (SELECT COALESCE(min(e.price), 0) FROM catalogue_optionvalue e"
    " WHERE e.option_id = o.id) FROM catalogue_option o WHERE +o.shop_id = %(shop)s AND o.required"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """An active variant: its price in hundredths, and its values by name, in lower case, with those that the product
    has in all variants."""

    cents: int
    sells: bool
    on_sale: bool
    values: frozenset[tuple[str, str]]


@dataclass(slots=True)
class FacetRow:
    """A product that lists show, but for its dates. `prices` are in hundredths, one for each active variant.

    `values` are (name, value, can be bought): of attributes, and of active variants. `items` are the products that a
    bundle consists of. `turns` is when one of its prices next begins or ends. `units` are the variants of a product
    whose variants differ in more than one way, such as price and colour; else there are none.
    """

    id: int
    prices: set[int]
    brand: int | None
    sells: bool
    on_sale: bool
    starts: datetime | None
    ends: datetime | None
    turns: datetime | None
    values: dict[tuple[str, str], bool] = field(default_factory=dict)
    categories: list[int] = field(default_factory=list)
    items: Collection[int] = ()
    units: Sequence[Unit] = ()


def read_all_rows(fetch: Fetch, shop: Shop, batch: int, now: datetime) -> Iterator[list[FacetRow]]:
    """The rows of all products that the shop lists, a batch of products at a time, by id."""
    for ids in listed_ids(fetch, shop):
        for start in range(0, len(ids), batch):
            yield read_rows(fetch, shop, ids[start : start + batch], now)


def listed_ids(fetch: Fetch, shop: Shop) -> Iterator[list[int]]:
    """The ids of all products that the shop lists, whatever their dates, in order, up to a hundred thousand at once."""
    last = 0
    while ids := [id for (id,) in fetch(_IDS, {"shop": shop.pk, "last": last}, prepared=False)]:
        yield ids
        last = ids[-1]


def read_rows(fetch: Fetch, shop: Shop, ids: Collection[int], now: datetime) -> list[FacetRow]:
    """The rows of those of these products that the shop lists, at the prices of now. The number of queries is
    constant."""
    if not ids:
        return []
    among = f"IN ({', '.join(str(int(id)) for id in ids)})"

    def read(statement: str, column: str) -> list[tuple]:
        params = {"shop": shop.pk, "now": as_stored(now)}
        return fetch(f"{statement} AND {column} {among}", params, prepared=False)

    variants: dict[int, list[tuple]] = defaultdict(list)
    for product_id, *variant in read(_VARIANTS, "v.product_id"):
        variants[product_id].append(tuple(variant))
    added: dict[int, int] = defaultdict(int)
    for product_id, cents in read(_OPTIONS, "o.product_id"):
        added[product_id] += cents
    rows: dict[int, FacetRow] = {}
    special: dict[int, str] = {}
    for id, type, *columns in read(_PRODUCTS, "p.id"):
        rows[id] = _row(id, type, columns, variants.get(id, ()), added.get(id, 0))
        if type in ("bundle", "digital"):
            special[id] = type
    for product_id, category in read(_CATEGORIES, "l.product_id"):
        if product_id in rows:
            rows[product_id].categories.append(category)
    _read_bundles(shop, {id: rows[id] for id, type in special.items() if type == "bundle"})
    for product in without_file(shop, [id for id, type in special.items() if type == "digital"]):
        rows[product.pk].sells = False
    # By id: of several spellings of a value, the filters show the first.
    return [rows[id] for id in sorted(rows)]


def _row(id: int, type: str, columns: Sequence[Any], variants: Sequence[tuple], added: int) -> FacetRow:
    cents, reduced, sells, brand, attributes, *stored = columns
    starts, ends, turns = map(_moment, stored)
    row = FacetRow(id, {cents + added}, brand, bool(sells), bool(reduced), starts, ends, turns)
    if type == "variable":
        row.prices = {each[0] + added for each in variants} or row.prices
        row.turns = min((at for at in (turns, *(_moment(each[4]) for each in variants)) if at), default=None)
        row.sells, row.on_sale = any(each[2] for each in variants), any(each[1] for each in variants)
    listed = _attributes(attributes)
    options = [(_option_values(each[3]), bool(each[2])) for each in variants] if type == "variable" else []
    named = [({_key(name) for name in chosen}, sells) for chosen, sells in options]
    for name, (values, is_variation) in listed.items():
        if not (is_variation and options):
            row.values |= {(name, value): True for value in values}
            continue
        # A variant without a value of this name has any of them.
        for open_sells in {sells for names, sells in named if _key(name) not in names}:
            _add(row.values, ((name, value) for value in values), open_sells)
    for chosen, can_sell in options:
        _add(row.values, chosen.items(), can_sell)
    if len(options) > 1:
        row.units = _units(variants, added, listed)
    return row


def _units(variants: Sequence[tuple], added: int, listed: Mapping[str, tuple[tuple[str, ...], bool]]) -> list[Unit]:
    """The variants that differ from each other; none if all of them differ in one way alone."""
    units = []
    for cents, reduced, sells, option_values, _ in variants:
        values = _pairs(option_values)
        chosen = {name for name, _ in values}
        for name, (listed_values, is_variation) in listed.items():
            # A variant without a value of a name that variants have has any of them.
            if not (is_variation and _key(name) in chosen):
                values |= _pairs_of(name, listed_values)
        units.append(Unit(cents + added, bool(sells), bool(reduced), values))
    units = list(dict.fromkeys(units))
    return units if _ways(units) > 1 else []


def _ways(units: Sequence[Unit]) -> int:
    """In how many ways these differ: price, stock, sale, each attribute."""
    differing = int(len({unit.cents for unit in units}) > 1)
    differing += len({unit.sells for unit in units}) > 1
    differing += len({unit.on_sale for unit in units}) > 1
    if len({unit.values for unit in units}) > 1:
        # The attributes of values that some have and others lack.
        some = frozenset.union(*(unit.values for unit in units))
        differing += len({name for name, _ in some - frozenset.intersection(*(unit.values for unit in units))})
    return differing


# Many variants and products have the same.
@lru_cache(4096)
def _pairs(option_values: str) -> frozenset[tuple[str, str]]:
    return frozenset((_key(name), _key(value)) for name, value in _option_values(option_values).items())


@lru_cache(4096)
def _pairs_of(name: str, values: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    return frozenset((_key(name), _key(value)) for value in values)


def _key(text: str) -> str:
    return text.strip().casefold()


def _add(found: dict[tuple[str, str], bool], pairs: Iterable[tuple[str, str]], sells: bool) -> None:
    for pair in pairs:
        found[pair] = found.get(pair, False) or sells


def _moment(stored: Any) -> datetime | None:
    return None if stored is None else as_utc(stored)


# Many products have the same texts.
@lru_cache(4096)
def _attributes(text: str | None) -> Mapping[str, tuple[tuple[str, ...], bool]]:
    """By name: the values, and whether variants have them."""
    if not text or text == "[]":
        return {}
    found = {}
    for each in orjson.loads(text):
        values = tuple(value for value in each.get("values") or () if _is_word(value))
        if _is_word(each.get("name")) and values:
            found[each["name"]] = values, bool(each.get("variation"))
    return found


@lru_cache(4096)
def _option_values(text: str) -> Mapping[str, str]:
    return {name: value for name, value in orjson.loads(text).items() if _is_word(name) and _is_word(value)}


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value.strip()) > 0 and len(value) <= MAX_VALUE_LENGTH


def _read_bundles(shop: Shop, rows: Mapping[int, FacetRow]) -> None:
    """Set which bundles can be bought: those whose items' stock allows one."""
    items: dict[int, list[BundleItem]] = defaultdict(list)
    for item in BundleItem.objects.filter(shop=shop, bundle__in=rows).select_related("product", "variant"):
        items[item.bundle_id].append(item)
    lacking = {each.pk for each in without_file(shop, {item.product_id for each in items.values() for item in each})}
    for id, row in rows.items():
        row.items = {item.product_id for item in items[id]}
        pieces: dict[Any, int] = defaultdict(int)
        for item in items[id]:
            pieces[item.variant or item.product] += item.qty
        if items[id]:
            row.sells = lacking.isdisjoint(row.items) and all(sold.can_sell(qty) for sold, qty in pieces.items())

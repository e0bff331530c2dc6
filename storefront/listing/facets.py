"""The filters of a product list: which products match them, and how many have each value.

The values of one filter add up (blue or red), filters narrow each other down (blue, and in stock): a product matches
if it has a variant that matches all of them. A value's count is that of the products which the list would have with it,
under the other filters.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pyroaring import BitMap64

from storefront.catalogue.models import Brand, Category
from storefront.catalogue.shown import shown_categories
from storefront.listing.facet_index import Attribute, FacetIndex, ValueSet, index_of
from storefront.listing.narrowing import Narrowing
from storefront.listing.queries import ProductFilters, database_fetch, match_ids
from storefront.shops.models import Shop

# Attributes and values of one that are counted at most, those with most products first. Chosen ones always are.
MAX_ATTRIBUTES, MAX_VALUES = 12, 60


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What a visitor filters by. `brands` are names, `values` names in lower case by that of their attribute; prices
    are in hundredths."""

    least: int | None = None
    most: int | None = None
    in_stock: bool = False
    on_sale: bool = False
    brands: frozenset[str] = frozenset()
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def has_price(self) -> bool:
        return self.least is not None or self.most is not None

    def __bool__(self) -> bool:
        return bool(self.has_price or self.in_stock or self.on_sale or self.brands or any(self.values.values()))


@dataclass(frozen=True, slots=True)
class Counted:
    """A value, its key, which is that in `Chosen`, and how many products it has."""

    key: str
    label: str
    count: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class CountedAttribute:
    key: str
    label: str
    values: list[Counted]


@dataclass(frozen=True, slots=True)
class Facets:
    """The filters of a list. `ids` are its products, in no order; `total_without` is how many it has without filters.
    `prices` are the lowest and the highest that it has without a price filter, in hundredths. `categories` are counts
    by category id. `chosen` is without what the shop does not have, which `unknown` names."""

    ids: BitMap64
    total: int
    total_without: int
    in_stock: int
    on_sale: int
    prices: tuple[int, int] | None
    brands: list[Counted]
    attributes: list[CountedAttribute]
    categories: dict[int, int]
    chosen: Chosen
    unknown: list[str]


def facets_of(
    shop: Shop, filters: ProductFilters, chosen: Chosen, *, categories: Collection[Category] = (), now: datetime
) -> Facets:
    """The list of `filters`, of which only `q` with its language, `for_shoppers` and `category` count, narrowed down by
    what is chosen. `categories` are those to count."""
    matches = None
    if filters.q:
        matches = match_ids(shop, filters.q, for_shoppers=filters.for_shoppers, language=filters.language, now=now)
    branch = _branches(shop, filters.category, categories)
    named = _brand_ids(shop, chosen.brands)
    index = index_of(shop)
    index.wanted.set()
    with index.lock:
        index.refresh(database_fetch, now)
        chosen, unknown = _known(index, chosen, named)
        base = index.listed - index.hidden(now)
        if matches is not None:
            base &= matches
        narrowing = Narrowing(index, _sets(index, chosen, named), _slot_sets(index, chosen))
        anywhere = narrowing.narrowed(base)
        if filters.category is not None:
            base &= index.of_categories(branch.of_list)
        narrowing.base = base
        found = narrowing.others("")
        facets = Facets(
            ids=found,
            total=len(found),
            total_without=len(base),
            in_stock=narrowing.count("stock", index.in_stock, [slot.in_stock for slot in index.slots]),
            on_sale=narrowing.count("sale", index.on_sale, [slot.on_sale for slot in index.slots]),
            prices=_price_range(index, narrowing),
            brands=[],
            attributes=_count_attributes(index, chosen, narrowing),
            categories={
                id: anywhere.intersection_cardinality(index.of_categories(below))
                for id, below in branch.of_each.items()
            },
            chosen=chosen,
            unknown=unknown,
        )
        shown = {id for name, id in named.items() if name in chosen.brands}
        brands = _count_brands(index, narrowing.others("brand"), shown)
    return replace(facets, brands=_named_brands(shop, brands, chosen))


@dataclass(frozen=True, slots=True)
class _Branches:
    """The ids of the shown categories of the list's branch, and of those of each category that is counted."""

    of_list: list[int]
    of_each: dict[int, list[int]]


def _branches(shop: Shop, slug: str | None, counted: Collection[Category]) -> _Branches:
    if slug is None and not counted:
        return _Branches([], {})
    rows = list(shown_categories(shop).values_list("pk", "slug", "lft", "rgt"))
    root = next(((lft, rgt) for _, each, lft, rgt in rows if each == slug), None)

    def below(lft: int, rgt: int) -> list[int]:
        return [pk for pk, _, each, _ in rows if lft <= each <= rgt]

    return _Branches(
        below(*root) if root else [], {category.pk: below(category.lft, category.rgt) for category in counted}
    )


def _brand_ids(shop: Shop, names: Collection[str]) -> dict[str, int]:
    if not names:
        return {}
    return dict(Brand.objects.filter(shop=shop, name__in=names).values_list("name", "pk"))


def _known(index: FacetIndex, chosen: Chosen, brands: Mapping[str, int]) -> tuple[Chosen, list[str]]:
    """Split the chosen filters into those that the shop has and the others."""
    unknown = [name for name in sorted(chosen.brands) if name not in brands]
    values = {}
    for name, wanted in chosen.values.items():
        known = index.attributes[name].values if name in index.attributes else {}
        values[name] = frozenset(wanted & known.keys())
        unknown += [f"{name}: {value}" for value in sorted(wanted - values[name])]
    values = {name: wanted for name, wanted in values.items() if wanted}
    return replace(chosen, brands=frozenset(chosen.brands & brands.keys()), values=values), unknown


def _sets(index: FacetIndex, chosen: Chosen, brands: Mapping[str, int]) -> dict[str, BitMap64]:
    """The products that each chosen filter allows, by its kind; attributes by "attribute:" and their name."""
    sets: dict[str, BitMap64] = {}
    if chosen.has_price:
        sets["price"] = index.prices.between(chosen.least, chosen.most)
    if chosen.in_stock:
        sets["stock"] = index.in_stock
    if chosen.on_sale:
        sets["sale"] = index.on_sale
    if chosen.brands:
        sets["brand"] = BitMap64.union(*(index.brands.get(brands[name], BitMap64()) for name in chosen.brands))
    for name, wanted in chosen.values.items():
        values = index.attributes[name].values
        sets[f"attribute:{name}"] = BitMap64.union(*(_having(values[value], chosen) for value in wanted))
    return sets


def _slot_sets(index: FacetIndex, chosen: Chosen) -> dict[str, list[BitMap64]]:
    """The same for the variants in each slot. All of a product's variants are of one brand."""
    sets: dict[str, list[BitMap64]] = {}
    if chosen.has_price:
        sets["price"] = [slot.prices.between(chosen.least, chosen.most) for slot in index.slots]
    if chosen.in_stock:
        sets["stock"] = [slot.in_stock for slot in index.slots]
    if chosen.on_sale:
        sets["sale"] = [slot.on_sale for slot in index.slots]
    for name, wanted in chosen.values.items():
        sets[f"attribute:{name}"] = [slot.having(name, wanted) for slot in index.slots]
    return sets


def _having(value: ValueSet, chosen: Chosen) -> BitMap64:
    """The products that have this value; among those in stock, of which such a variant can be bought."""
    return value.products - value.unsellable if chosen.in_stock and value.unsellable else value.products


def _price_range(index: FacetIndex, narrowing: Narrowing) -> tuple[int, int] | None:
    """The range of the prices of those variants that match the other filters."""
    whole, by_slot = narrowing.split("price")
    found = [index.prices.range_of(whole)]
    found += [slot.prices.range_of(each) for slot, each in zip(index.slots, by_slot, strict=False) if each]
    ranges = [each for each in found if each is not None]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None


def _count_attributes(index: FacetIndex, chosen: Chosen, narrowing: Narrowing) -> list[CountedAttribute]:
    counted = []
    for name, attribute in index.attributes.items():
        kind = f"attribute:{name}"
        values = _count_values(index, name, attribute, chosen, narrowing)
        # What all have narrows nothing down.
        total = len(narrowing.others(kind))
        if name in chosen.values or any(value.count < total for value in values):
            counted.append(CountedAttribute(name, attribute.label, values))
    counted.sort(key=lambda each: (each.key not in chosen.values, -sum(value.count for value in each.values)))
    return sorted(counted[:MAX_ATTRIBUTES], key=lambda each: -sum(value.count for value in each.values))


def _count_values(
    index: FacetIndex, name: str, attribute: Attribute, chosen: Chosen, narrowing: Narrowing
) -> list[Counted]:
    kind, wanted = f"attribute:{name}", chosen.values.get(name, frozenset())
    if narrowing.of_variants(kind) <= {"stock"}:
        # Sets of products are exact: the index knows which values cannot be bought.
        whole, matching = narrowing.others(kind), {}
    else:
        whole, by_slot = narrowing.split(kind)
        matching = _matching_values(index, name, by_slot)
    counts = (
        Counted(
            key,
            value.label,
            whole.intersection_cardinality(_having(value, chosen)) + len(matching.get(key, ())),
            key in wanted,
        )
        for key, value in attribute.values.items()
    )
    return _most([each for each in counts if each.count or each.is_chosen])


def _matching_values(index: FacetIndex, name: str, by_slot: list[BitMap64]) -> dict[str, BitMap64]:
    """The products that have each value in a variant of these, by slot."""
    found: defaultdict[str, BitMap64] = defaultdict(BitMap64)
    for slot, products in zip(index.slots, by_slot, strict=False):
        for value, having in slot.values.get(name, {}).items() if products else ():
            found[value] |= having & products
    return found


def _most(counted: list[Counted]) -> list[Counted]:
    return sorted(counted, key=lambda each: (not each.is_chosen, -each.count, each.key))[:MAX_VALUES]


def _count_brands(index: FacetIndex, products: BitMap64, chosen: Collection[int]) -> dict[int, int]:
    counts = {id: products.intersection_cardinality(having) for id, having in index.brands.items()}
    if not chosen and len(products) in counts.values():
        # All are of one brand.
        return {}
    found = [id for id, count in counts.items() if count or id in chosen]
    found.sort(key=lambda id: (id not in chosen, -counts[id], id))
    return {id: counts[id] for id in found[:MAX_VALUES]} | {id: 0 for id in chosen if id not in counts}


def _named_brands(shop: Shop, counts: Mapping[int, int], chosen: Chosen) -> list[Counted]:
    if not counts:
        return []
    names = dict(Brand.objects.filter(shop=shop, pk__in=counts).values_list("pk", "name"))
    return _most([Counted(name, name, counts[id], name in chosen.brands) for id, name in names.items()])

"""The filters in a listing's URL: `brand`, `min_price`, `max_price`, `stock`, `sale`, and `filter.NAME` for an
attribute. Invalid filters, and values that the shop does not have, are left out, and the page lists them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from urllib.parse import urlencode
from zlib import crc32

from django.http import QueryDict
from django.utils.translation import gettext as _

from storefront.catalogue.translating import ATTRIBUTE as OF_ATTRIBUTE
from storefront.catalogue.translating import of_part
from storefront.kit.format import format_money, quoted
from storefront.listing.facet_rows import MAX_VALUE_LENGTH
from storefront.listing.facets import Chosen, Counted, Facets
from storefront.shops.models import Shop

# Prefix of the parameters for attributes.
ATTRIBUTE = "filter."
# Values that a URL can filter by; more are left out.
MAX_CHOSEN = 60
# Values of a filter that are shown before the others are opened.
SEEN_VALUES = 8

# In the order in which shoppers expect them.
SIZES = ("xxs", "xs", "s", "m", "l", "xl", "xxl", "2xl", "xxxl", "3xl", "4xl", "5xl")

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Given:
    """The filters in a URL. `pairs` are the valid parameters, `malformed` the invalid ones. `with_price` is false for
    members of a customer group, who cannot filter by price."""

    chosen: Chosen
    pairs: Pairs
    malformed: list[str]
    with_price: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """A chosen value, and the address of the list without it."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Box:
    """A value to tick, and its text. Its id stays the same from page to page, so that focus can stay on it."""

    id: str
    value: str
    label: str
    count: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A filter whose values are ticked. `field` is the name of its boxes. `others` are opened by a click."""

    id: str
    label: str
    field: str
    seen: list[Box]
    others: list[Box]


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The form of a listing's filters. It repeats the parameters `kept` and builds `pairs`. `price_range` is the range
    in the list, `ignored` are filters in the URL that were left out."""

    facets: Facets
    groups: list[Group]
    chips: list[Chip]
    kept: Pairs
    pairs: Pairs
    clear_url: str
    least: str
    most: str
    price_range: tuple[Decimal, Decimal] | None
    ignored: list[str]

    @property
    def is_useful(self) -> bool:
        return bool(self.chips or self.facets.total > 1 or self.ignored)

    @property
    def ignored_names(self) -> str:
        return ", ".join(map(quoted, self.ignored))

    @property
    def has_price(self) -> bool:
        """Returns True if prices differ, and the visitor sees list prices."""
        chosen = self.facets.chosen.has_price
        return self.price_range is not None and (chosen or self.price_range[0] < self.price_range[1])

    @property
    def has_stock(self) -> bool:
        """Returns True if some products can be bought and others cannot."""
        return self.facets.chosen.in_stock or 0 < self.facets.in_stock < self.facets.total

    @property
    def has_sale(self) -> bool:
        return self.facets.chosen.on_sale or self.facets.on_sale > 0


def read_filters(query: QueryDict, *, with_price: bool) -> Given:
    pairs: Pairs = []
    malformed: list[str] = []
    brands: set[str] = set()
    values: dict[str, set[str]] = {}
    for name, texts in query.lists():
        for value in dict.fromkeys(text.strip() for text in texts):
            if not value or not (name == "brand" or name.startswith(ATTRIBUTE)):
                continue
            attribute = name.removeprefix(ATTRIBUTE).strip()
            if (
                "\0" in name + value
                or max(len(attribute), len(value)) > MAX_VALUE_LENGTH * 2
                or len(pairs) >= MAX_CHOSEN
            ):
                malformed.append(_cut(value))
            else:
                pairs.append((name, value))
                if name == "brand":
                    brands.add(value)
                else:
                    values.setdefault(attribute.casefold(), set()).add(value.casefold())
    least, most = (_cents(query, name, malformed) if with_price else None for name in ("min_price", "max_price"))
    if least is not None and most is not None and least > most:
        malformed.append(_("%(least)s to %(most)s") % {"least": query["min_price"], "most": query["max_price"]})
        least = most = None
    pairs += [
        (name, str(Decimal(cents) / 100))
        for name, cents in (("min_price", least), ("max_price", most))
        if cents is not None
    ]
    flags = {name: _flag(query, name, malformed) for name in ("stock", "sale")}
    pairs += [(name, "1") for name, is_set in flags.items() if is_set]
    chosen = Chosen(
        least=least,
        most=most,
        in_stock=flags["stock"],
        on_sale=flags["sale"],
        brands=frozenset(brands),
        values={name: frozenset(wanted) for name, wanted in values.items()},
    )
    return Given(chosen, pairs, malformed, with_price)


def filter_form(
    shop: Shop,
    path: str,
    given: Given,
    facets: Facets,
    kept: Iterable[tuple[str, str]],
    *,
    words: Mapping[str, str] | None = None,
) -> FilterForm:
    """Build the form for these filters with the counts in `facets`. `kept` are the URL's parameters for search and
    order; `words` are the texts of attributes in the page's language (`listing.queries.words_of`)."""
    words = words or {}
    kept = list(kept)
    chosen, pairs = facets.chosen, _of_shop(given.pairs, facets)
    groups = [_group("brand", _("Brand"), "brand", facets.brands)] if facets.brands else []
    groups += [
        _group(each.key, each.label, ATTRIBUTE + each.label, each.values, partial(of_part, words, OF_ATTRIBUTE))
        for each in facets.attributes
    ]
    return FilterForm(
        facets=facets,
        groups=groups,
        chips=[Chip(label, _url(path, kept, without)) for label, without in _chips(shop, chosen, pairs, facets, words)],
        kept=kept,
        pairs=pairs,
        clear_url=_url(path, kept, []),
        least=_price(chosen.least),
        most=_price(chosen.most),
        price_range=_range(facets.prices) if given.with_price and facets.prices else None,
        ignored=[*given.malformed, *facets.unknown],
    )


def _group(
    key: str, name: str, field: str, values: Sequence[Counted], text_of: Callable[..., str] | None = None
) -> Group:
    """The filter's values in alphabetical order. Those with most products, and the chosen ones, are shown at first.
    `text_of` returns the text of the attribute of this name, or of a value of it, in the page's language."""
    # A single value more takes no more space than the line that would open it.
    most = len(values) if len(values) <= SEEN_VALUES + 1 else max(SEEN_VALUES, sum(each.is_chosen for each in values))
    id = f"filter-{crc32(key.encode()):x}"

    def boxes(counted: Sequence[Counted]) -> list[Box]:
        found = [
            Box(
                f"{id}-{crc32(each.key.encode()):x}",
                each.label,
                text_of(name, each.label) if text_of else each.label,
                each.count,
                each.is_chosen,
            )
            for each in counted
        ]
        return sorted(found, key=lambda box: _in_order(box.label))

    return Group(id, text_of(name) if text_of else name, field, boxes(values[:most]), boxes(values[most:]))


def _in_order(label: str) -> tuple:
    """Sorts sizes by size, numbers within a text by their value, and all else by the alphabet."""
    text = label.casefold()
    if text in SIZES:
        return 0, SIZES.index(text)
    return 1, [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _cents(query: QueryDict, name: str, malformed: list[str]) -> int | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        amount = Decimal(text.replace(",", ".")) if len(text) <= 12 else None
        if amount is not None and amount.is_finite() and 0 <= amount < 10**9:
            return int((amount * 100).to_integral_value())
    except InvalidOperation:
        pass
    malformed.append(_cut(text))
    return None


def _flag(query: QueryDict, name: str, malformed: list[str]) -> bool:
    text = query.get(name, "").strip()
    if text not in ("", "0", "1"):
        malformed.append(_cut(text))
    return text == "1"


def _cut(text: str) -> str:
    text = text.replace("\0", " ")
    return text if len(text) <= 40 else text[:40] + "…"


def _of_shop(pairs: Pairs, facets: Facets) -> Pairs:
    """The parameters without values that the shop does not have."""
    chosen = facets.chosen
    return [
        (name, value)
        for name, value in pairs
        if (name == "brand" and value in chosen.brands)
        or (name.startswith(ATTRIBUTE) and value.casefold() in chosen.values.get(_attribute(name), ()))
        or not (name == "brand" or name.startswith(ATTRIBUTE))
    ]


def _attribute(name: str) -> str:
    return name.removeprefix(ATTRIBUTE).strip().casefold()


def _chips(
    shop: Shop, chosen: Chosen, pairs: Pairs, facets: Facets, words: Mapping[str, str]
) -> Iterable[tuple[str, Pairs]]:
    """The chosen values in words, each with the parameters of the list without it."""
    labels = {
        (each.key, value.key): f"{of_part(words, OF_ATTRIBUTE, each.label)}: "
        f"{of_part(words, OF_ATTRIBUTE, each.label, value.label)}"
        for each in facets.attributes
        for value in each.values
    }
    for name, value in pairs:
        without = [pair for pair in pairs if pair != (name, value)]
        if name == "brand":
            yield value, without
        elif name.startswith(ATTRIBUTE):
            key = _attribute(name), value.casefold()
            yield labels.get(key, f"{name.removeprefix(ATTRIBUTE)}: {value}"), without
    if chosen.has_price:
        yield (
            _price_words(shop, chosen),
            [pair for pair in pairs if pair[0] not in ("min_price", "max_price")],
        )
    for name, label, is_set in (("stock", _("In stock"), chosen.in_stock), ("sale", _("On sale"), chosen.on_sale)):
        if is_set:
            yield label, [pair for pair in pairs if pair[0] != name]


def _price_words(shop: Shop, chosen: Chosen) -> str:
    least, most = (
        None if cents is None else format_money(Decimal(cents) / 100, shop.currency)
        for cents in (chosen.least, chosen.most)
    )
    if least and most:
        return _("%(least)s to %(most)s") % {"least": least, "most": most}
    return _("From %(price)s") % {"price": least} if least else _("Up to %(price)s") % {"price": most}


def _range(cents: tuple[int, int]) -> tuple[Decimal, Decimal]:
    return Decimal(cents[0]) / 100, Decimal(cents[1]) / 100


def _price(cents: int | None) -> str:
    """Format the price for the field."""
    return "" if cents is None else f"{Decimal(cents) / 100:.2f}".removesuffix(".00")


def _url(path: str, kept: Pairs, pairs: Pairs) -> str:
    query = urlencode([*kept, *pairs])
    return f"{path}?{query}" if query else path

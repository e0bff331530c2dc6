"""A product as its page shows it: prices, stock, pictures, options, and the axes by which shoppers choose a variant."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from storefront.customers.models import Customer
from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.pricing.queries import group_terms
from storefront.shops.models import Shop
from storefront.website import offers, pictures, queries
from storefront.website.offers import Availability, Price
from storefront.website.pictures import Picture

Record = dict[str, Any]

# An axis with more values than this is a select box instead of buttons.
MOST_BUTTONS = 8


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One value of an axis. `note` is shown beside it, such as its price."""

    value: str
    is_chosen: bool
    can_sell: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A property in which variants differ, such as the colour. `field` is its name in the form."""

    name: str
    field: str
    values: list[AxisValue]

    @property
    def has_buttons(self) -> bool:
        return len(self.values) <= MOST_BUTTONS


@dataclass(frozen=True, slots=True)
class ProductDetail:
    record: Record
    price: Price
    availability: Availability
    axes: list[Axis]
    variants: list[Record]
    pictures: list[Picture]
    options: list[Record]
    bundle_items: list[Record]
    chosen: dict[str, str]


def product_detail(shop: Shop, record: Record, given: Mapping[str, str], customer: Customer | None) -> ProductDetail:
    """The page's view of a product record. `given`: what the visitor has already chosen, by form field."""
    terms = group_terms(shop, customer.pk if customer else None, [record["id"]])
    record = offers.at_group_prices(record, terms)
    ranges = queries.variant_ranges(shop, [record["id"]], terms) if record["type"] == "variable" else {}
    limits, bundle_items = queries.bundle(shop, record["id"]) if record["type"] == "bundle" else ({}, [])
    options = queries.required_options(shop, [record["id"]]) if record["options"] else {}
    required = options.get(record["id"], (ZERO, False))
    variants = [variant for variant in record["variants"] if variant["is_active"]]
    initial = _initial_values(record, variants, given)
    picture_numbers: dict[str, int] = {}
    for number, media in enumerate(record["media"]):
        picture_numbers.setdefault(media["url"], number)
    return ProductDetail(
        record=record,
        price=offers.price(record, ranges.get(record["id"]), *required),
        availability=offers.product_availability(record, ranges.get(record["id"]), limits),
        axes=product_axes(shop, record, variants, initial),
        variants=[_variant(shop, record, variant, picture_numbers, *required) for variant in variants],
        pictures=_pictures(shop, record),
        options=[option | {"field": f"option-{option['id']}"} for option in record["options"]],
        bundle_items=bundle_items,
        chosen=dict(given),
    )


def axis_names(record: Record) -> list[str]:
    """The names of the axes: attributes used for variations in the product's order, then others that variants have."""
    names = [attribute["name"] for attribute in record["attributes"] if attribute.get("variation")]
    used = [name for variant in record["variants"] for name in variant["option_values"]]
    return list(dict.fromkeys([*names, *used]))


def chosen_variant(record: Record, given: Mapping[str, str]) -> tuple[Record | None, list[dict[str, str]]]:
    """The active variant for the chosen values, and the choices that it does not fix, as custom fields.

    A variant without a value for an axis matches every value of it. The variant that fixes most values wins.
    """
    if given.get("variant"):
        found = [variant for variant in record["variants"] if str(variant["id"]) == given["variant"]]
        return (found[0] if found and found[0]["is_active"] else None), []
    values = {name: given.get(f"axis-{number}", "") for number, name in enumerate(axis_names(record))}
    if not values or not all(values.values()):
        return None, []
    matching = [variant for variant in record["variants"] if variant["is_active"] and _matches(variant, values)]
    if not matching:
        return None, []
    variant = max(matching, key=lambda variant: len(_fixed_values(variant)))
    fixed = _fixed_values(variant)
    return variant, [{"name": name, "value": value} for name, value in values.items() if name not in fixed]


def _fixed_values(variant: Record) -> dict[str, str]:
    return {name: value for name, value in variant["option_values"].items() if value}


def _matches(variant: Record, values: Mapping[str, str]) -> bool:
    return all(values.get(name) == value for name, value in _fixed_values(variant).items())


def _initial_values(record: Record, variants: list[Record], given: Mapping[str, str]) -> dict[str, str]:
    """The values selected when the page opens: the visitor's, the default variant's, or the first sellable one's."""
    names = axis_names(record)
    if any(given.get(f"axis-{number}") for number in range(len(names))):
        return {name: given.get(f"axis-{number}", "") for number, name in enumerate(names)}
    wanted = str(given.get("variant") or record["default_variant_id"] or "")
    first = [variant for variant in variants if str(variant["id"]) == wanted]
    first += [variant for variant in variants if offers.stock_availability(variant, threshold=0).can_sell]
    return _fixed_values(first[0]) if first else {}


def product_axes(shop: Shop, record: Record, variants: list[Record], initial: Mapping[str, str]) -> list[Axis]:
    names = axis_names(record)
    if record["type"] != "variable":
        return []
    if not names:
        return [_nameless_axis(shop, record, variants)] if variants else []
    return [
        Axis(name, f"axis-{number}", _values(shop, record, variants, name, initial, is_only_axis=len(names) == 1))
        for number, name in enumerate(names)
    ]


def _nameless_axis(shop: Shop, record: Record, variants: list[Record]) -> Axis:
    """An axis of the variants' names, for variants without option values."""
    first = next((variant for variant in variants if offers.stock_availability(variant, threshold=0).can_sell), None)
    prices_differ = len({variant["price"] for variant in variants}) > 1
    values = []
    for variant in variants:
        note = _note(shop, record, variant, prices_differ=prices_differ)
        values.append(AxisValue(str(variant["id"]), variant is first, _can_sell(record, variant), note))
    return Axis("Variant", "variant", values)


def _values(
    shop: Shop, record: Record, variants: list[Record], name: str, initial: Mapping[str, str], *, is_only_axis: bool
) -> list[AxisValue]:
    listed: list[str] = next(
        (a["values"] for a in record["attributes"] if a["name"] == name and a.get("variation")), []
    )
    is_open = any(not variant["option_values"].get(name) for variant in variants)
    used = [variant["option_values"][name] for variant in variants if variant["option_values"].get(name)]
    used_set = set(used)
    values = dict.fromkeys([*(value for value in listed if is_open or value in used_set), *used])
    chosen = initial.get(name) or next(iter(values), "")
    # One pass over the variants, since there may be many: the first variant of each value, and the values with a
    # sellable variant. The key "" is for variants that do not fix a value.
    first: dict[str, Record] = {}
    sellable: set[str] = set()
    for variant in variants:
        value = variant["option_values"].get(name) or ""
        first.setdefault(value, variant)
        if _can_sell(record, variant):
            sellable.add(value)
    order = {id(variant): number for number, variant in enumerate(variants)}
    prices_differ = len({variant["price"] for variant in variants}) > 1
    found = []
    for value in values:
        matching = sorted((first[key] for key in {value, ""} & first.keys()), key=lambda variant: order[id(variant)])
        note = _note(shop, record, matching[0], prices_differ=prices_differ) if is_only_axis and matching else ""
        found.append(AxisValue(value, value == chosen, not sellable.isdisjoint((value, "")), note))
    return found


def _can_sell(record: Record, variant: Record) -> bool:
    return offers.stock_availability(variant, threshold=record["low_stock_threshold"]).can_sell


def _note(shop: Shop, record: Record, variant: Record, *, prices_differ: bool) -> str:
    """What is shown beside a value: the price if the variants' prices differ, and the stock if it is low or none."""
    price = format_money(Decimal(variant["price"]), shop.currency) if prices_differ else ""
    stock = offers.stock_availability(variant, threshold=record["low_stock_threshold"]).text
    return ", ".join(part for part in (price, stock) if part)


def _variant(
    shop: Shop, record: Record, variant: Record, picture_numbers: Mapping[str, int], required: Decimal, varies: bool
) -> Record:
    """A variant's data for the page's script: formatted texts, and its picture's index from `picture_numbers` (by URL).

    `price` includes the least that required options add. `amount` does not, since the script adds the chosen options.
    """
    price = offers.price_of(Decimal(variant["price"]), Decimal(variant["compare_price"]), required)
    availability = offers.stock_availability(variant, threshold=record["low_stock_threshold"])
    return {
        "id": variant["id"],
        "name": variant["name"],
        "sku": variant["sku"],
        "values": _fixed_values(variant),
        "amount": variant["price"],
        "old": format_money(price.old, shop.currency),
        "price": ("From " if varies else "") + format_money(price.amount, shop.currency),
        "note": availability.text,
        "kind": availability.kind,
        "sells": availability.can_sell,
        "picture": picture_numbers.get(variant["image"]),
    }


def _pictures(shop: Shop, record: Record) -> list[Picture]:
    awaited = pictures.awaited_media(shop, record["media"])
    return [pictures.media_picture(shop, media, pictures.LARGE, record["name"], awaited) for media in record["media"]]

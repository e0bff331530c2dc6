"""A product as its page shows it: the choices that lead to a variant, the options, the pictures, what is left."""

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

# More values than this are a list to pick from instead of buttons.
MOST_BUTTONS = 8


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an axis. `note` tells what is particular about it, such as its price."""

    value: str
    is_chosen: bool
    can_sell: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that tells variants apart, such as a colour; `field` is its name in the form."""

    name: str
    field: str
    values: list[Value]

    @property
    def has_buttons(self) -> bool:
        return len(self.values) <= MOST_BUTTONS


@dataclass(frozen=True, slots=True)
class Detail:
    record: Record
    price: Price
    availability: Availability
    axes: list[Axis]
    variants: list[Record]
    pictures: list[Picture]
    options: list[Record]
    parts: list[Record]
    chosen: dict[str, str]


def detail(shop: Shop, record: Record, given: Mapping[str, str], customer: Customer | None) -> Detail:
    """The page's view of a product record; `given` is what the visitor has chosen already, by field name."""
    terms = group_terms(shop, customer.pk if customer else None, [record["id"]])
    record = offers.for_group(record, terms)
    ranges = queries.variant_ranges(shop, [record["id"]], terms) if record["type"] == "variable" else {}
    limits, parts = queries.bundle(shop, record["id"]) if record["type"] == "bundle" else ({}, [])
    options = queries.required_options(shop, [record["id"]]) if record["options"] else {}
    required = options.get(record["id"], (ZERO, False))
    variants = [variant for variant in record["variants"] if variant["is_active"]]
    preset = _preset(record, variants, given)
    return Detail(
        record=record,
        price=offers.price(record, ranges.get(record["id"]), *required),
        availability=offers.availability_of(record, ranges.get(record["id"]), limits),
        axes=_axes(shop, record, variants, preset),
        variants=[_variant(shop, record, variant, *required) for variant in variants],
        pictures=_pictures(shop, record),
        options=[option | {"field": f"option-{option['id']}"} for option in record["options"]],
        parts=parts,
        chosen=dict(given),
    )


def axis_names(record: Record) -> list[str]:
    """What tells the product's variants apart, in its order."""
    names = [attribute["name"] for attribute in record["attributes"] if attribute.get("variation")]
    used = [name for variant in record["variants"] for name in variant["option_values"]]
    return list(dict.fromkeys([*names, *used]))


def chosen_variant(record: Record, given: Mapping[str, str]) -> tuple[Record | None, list[dict[str, str]]]:
    """The active variant that the chosen values mean, and the choices that it leaves open, as custom fields.

    A variant that says nothing about an axis stands for every value of it; one that names more of them goes first.
    """
    if given.get("variant"):
        found = [variant for variant in record["variants"] if str(variant["id"]) == given["variant"]]
        return (found[0] if found and found[0]["is_active"] else None), []
    values = {name: given.get(f"axis-{number}", "") for number, name in enumerate(axis_names(record))}
    if not values or not all(values.values()):
        return None, []
    fitting = [variant for variant in record["variants"] if variant["is_active"] and _fits(variant, values)]
    if not fitting:
        return None, []
    variant = max(fitting, key=lambda variant: len(_named(variant)))
    left_open = [{"name": name, "value": value} for name, value in values.items() if name not in _named(variant)]
    return variant, left_open


def _named(variant: Record) -> dict[str, str]:
    return {name: value for name, value in variant["option_values"].items() if value}


def _fits(variant: Record, values: Mapping[str, str]) -> bool:
    return all(values.get(name) == value for name, value in _named(variant).items())


def _preset(record: Record, variants: list[Record], given: Mapping[str, str]) -> dict[str, str]:
    """The values chosen when the page opens: the visitor's, else the default variant's, else of one that sells."""
    names = axis_names(record)
    if any(given.get(f"axis-{number}") for number in range(len(names))):
        return {name: given.get(f"axis-{number}", "") for number, name in enumerate(names)}
    wanted = str(given.get("variant") or record["default_variant_id"] or "")
    first = [variant for variant in variants if str(variant["id"]) == wanted]
    first += [variant for variant in variants if offers.availability(variant, threshold=0).can_sell]
    return _named(first[0]) if first else {}


def _axes(shop: Shop, record: Record, variants: list[Record], preset: Mapping[str, str]) -> list[Axis]:
    names = axis_names(record)
    if record["type"] != "variable":
        return []
    if not names:
        return [_nameless_axis(shop, record, variants)] if variants else []
    return [
        Axis(name, f"axis-{number}", _values(shop, record, variants, name, preset, alone=len(names) == 1))
        for number, name in enumerate(names)
    ]


def _nameless_axis(shop: Shop, record: Record, variants: list[Record]) -> Axis:
    """Variants that say nothing about what tells them apart are offered by their names."""
    first = next((variant for variant in variants if offers.availability(variant, threshold=0).can_sell), None)
    values = [
        Value(str(variant["id"]), variant is first, _sells(record, variant), _note(shop, record, variants, variant))
        for variant in variants
    ]
    return Axis("Variant", "variant", values)


def _values(
    shop: Shop, record: Record, variants: list[Record], name: str, preset: Mapping[str, str], *, alone: bool
) -> list[Value]:
    listed: list[str] = next(
        (a["values"] for a in record["attributes"] if a["name"] == name and a.get("variation")), []
    )
    is_open = any(not variant["option_values"].get(name) for variant in variants)
    used = [variant["option_values"][name] for variant in variants if variant["option_values"].get(name)]
    values = dict.fromkeys([*(value for value in listed if is_open or value in used), *used])
    chosen = preset.get(name) or next(iter(values), "")
    found = []
    for value in values:
        fitting = [variant for variant in variants if variant["option_values"].get(name) in (value, None, "")]
        note = _note(shop, record, variants, fitting[0]) if alone and fitting else ""
        found.append(Value(value, value == chosen, any(_sells(record, variant) for variant in fitting), note))
    return found


def _sells(record: Record, variant: Record) -> bool:
    return offers.availability(variant, threshold=record["low_stock_threshold"]).can_sell


def _note(shop: Shop, record: Record, variants: list[Record], variant: Record) -> str:
    """The price where variants differ in it, and what is particular about the stock."""
    prices = {other["price"] for other in variants}
    price = format_money(Decimal(variant["price"]), shop.currency) if len(prices) > 1 else ""
    stock = offers.availability(variant, threshold=record["low_stock_threshold"]).text
    return ", ".join(part for part in (price, stock) if part)


def _variant(shop: Shop, record: Record, variant: Record, required: Decimal, spread: bool) -> Record:
    """What the page's script needs to show a variant: texts ready to be shown, and the number of its picture.

    The price shown has the least that required options add; `amount` is without, since the script adds what is chosen.
    """
    price = offers.price_of(Decimal(variant["price"]), Decimal(variant["compare_price"]), required)
    availability = offers.availability(variant, threshold=record["low_stock_threshold"])
    urls = [media["url"] for media in record["media"]]
    return {
        "id": variant["id"],
        "name": variant["name"],
        "sku": variant["sku"],
        "values": _named(variant),
        "amount": variant["price"],
        "old": format_money(price.old, shop.currency),
        "price": ("From " if spread else "") + format_money(price.amount, shop.currency),
        "note": availability.text,
        "kind": availability.kind,
        "sells": availability.can_sell,
        "picture": urls.index(variant["image"]) if variant["image"] in urls else None,
    }


def _pictures(shop: Shop, record: Record) -> list[Picture]:
    found = (
        pictures.picture(shop, media["url"], pictures.LARGE, media["alt"] or record["name"])
        for media in record["media"]
    )
    return [picture for picture in found if picture]

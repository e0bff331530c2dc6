"""Lets shoppers choose a variant by axes, such as colour and size, and describes combinations that are not available.

Pure functions of catalogue records. `product.js` does the same in the browser with the same texts (`script_texts`), so
the two change together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.kit.format import format_money
from storefront.shops.models import Shop
from storefront.website import offers
from storefront.website.swatches import colour_of

Record = dict[str, Any]
Values = Mapping[str, str]

# An axis with more values than this is a select box instead of buttons. Swatches need less
# reading.
MAX_BUTTONS, MAX_SWATCHES = 8, 24
# Values of another axis that the message about a missing combination names.
MAX_NAMED = 6
# Texts about choices, here and in `product.js`.
TEXTS = {
    # Translators: `instead` is the text "another %(name)s (%(values)s)", or several, joined by "or".
    "instead": gettext_lazy("%(values)s is not available. Choose %(instead)s."),
    # Translators: `values` and `example` are choices, such as "Blue with Large".
    "nearest": gettext_lazy("%(values)s is not available. Choose, for example, %(example)s."),
    # Translators: `name` is what can be chosen, such as "Colour"; `values` are its values, such as "Blue or Red".
    "another": gettext_lazy("another %(name)s (%(values)s)"),
    "either": gettext_lazy("%(first)s or %(last)s"),
    # Translators: two values chosen together, such as "Blue with Large".
    "pair": gettext_lazy("%(first)s with %(last)s"),
    "others": gettext_lazy("%(values)s and others"),
    "notMade": gettext_lazy("not in this combination"),
    "soldOut": gettext_lazy("sold out"),
    "noCombination": gettext_lazy("Not available in this combination"),
    "inStock": gettext_lazy("In stock"),
    "gone": gettext_lazy("Sold out"),
    "notAvailable": gettext_lazy("Not available"),
}


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One value of an axis. `note` is shown beside it, such as its price.

    `is_made`: a variant has it together with the chosen values of the other axes. `can_sell`: such a variant can be
    bought.
    """

    value: str
    label: str
    is_chosen: bool
    is_made: bool
    can_sell: bool
    note: str = ""

    @property
    def state(self) -> str:
        """The value's state in words; empty if it can be bought or the note has it already."""
        if not self.is_made:
            return str(TEXTS["notMade"])
        return str(TEXTS["soldOut"]) if not self.can_sell and not self.note else ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A property in which variants differ, such as the colour. `field` is its name in the form."""

    name: str
    field: str
    values: list[AxisValue]

    @property
    def has_buttons(self) -> bool:
        has_swatches = all(colour_of(self.name, each.label) for each in self.values)
        return len(self.values) <= (MAX_SWATCHES if has_swatches else MAX_BUTTONS)


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice when the page opens: a value of each axis, and the variant that has them all, if there is one.
    `problem` is the message without one."""

    axes: list[Axis]
    variant: Record | None
    problem: str = ""


def axis_names(record: Record) -> list[str]:
    """The names of the axes: attributes used for variations in the product's order, then others that variants have."""
    names = [attribute["name"] for attribute in record["attributes"] if attribute.get("variation")]
    used = [name for variant in record["variants"] for name in variant["option_values"]]
    return list(dict.fromkeys([*names, *used]))


def chosen_variant(record: Record, given: Values) -> tuple[Record | None, list[dict[str, str]]]:
    """Find the active variant for the chosen values. Returns it with the choices that it does not fix, as custom
    fields.

    A variant without a value for an axis matches every value of it. The variant that fixes most values wins.
    """
    if given.get("variant"):
        found = [variant for variant in record["variants"] if str(variant["id"]) == given["variant"]]
        return (found[0] if found and found[0]["is_active"] else None), []
    values = {name: given.get(f"axis-{number}", "") for number, name in enumerate(axis_names(record))}
    if not values or not all(values.values()):
        return None, []
    variant = _variant_of([variant for variant in record["variants"] if variant["is_active"]], values)
    if variant is None:
        return None, []
    fixed = fixed_values(variant)
    return variant, [{"name": name, "value": value} for name, value in values.items() if name not in fixed]


def fixed_values(variant: Record) -> dict[str, str]:
    return {name: value for name, value in variant["option_values"].items() if value}


def choose(shop: Shop, record: Record, variants: Sequence[Record], given: Values) -> Choice:
    """The choice that the page of a variable product opens with. `variants` are its active ones.

    `given` are the visitor's choices by form field. Values that the product does not have are ignored. Missing values
    are taken from a variant: `given["variant"]`, the default one, or the first that can be sold.
    """
    names = axis_names(record)
    if not variants:
        return Choice([], None)
    if not names:
        wanted = _first_variant(record, variants, given, {})
        return Choice([_nameless_axis(shop, record, variants, wanted)], wanted)
    offered = {name: _values_of(record, variants, name) for name in names}
    entered = {name: given.get(f"axis-{number}", "") for number, name in enumerate(names)}
    entered = {name: value for name, value in entered.items() if value in offered[name]}
    rest = fixed_values(_first_variant(record, variants, given, entered))
    values = {name: entered.get(name) or rest.get(name) or next(iter(offered[name]), "") for name in names}
    variant = _variant_of(variants, values)
    notes = _notes(shop, record, variants, names[0]) if len(names) == 1 else {}
    axes = [
        Axis(name, f"axis-{number}", list(_axis_values(record, variants, name, offered[name], values, notes)))
        for number, name in enumerate(names)
    ]
    return Choice(axes, variant, "" if variant else problem(variants, values))


def problem(variants: Iterable[Record], values: Values) -> str:
    """The message about values that no variant has together, with the values that go with the others."""
    values_text = _joined(list(values.values()))
    variants = list(variants)
    instead = []
    for name, value in values.items():
        others = {other: chosen for other, chosen in values.items() if other != name}
        fitting = dict.fromkeys(
            variant["option_values"].get(name) or "" for variant in variants if _fits(variant, others)
        )
        named = [each for each in fitting if each and each != value]
        if named:
            instead.append(TEXTS["another"] % {"name": name, "values": _listed(named)})
    if instead:
        return TEXTS["instead"] % {"values": values_text, "instead": _either(instead)}
    nearest = max(variants, key=lambda variant: sum(_same(variant, values)))
    return TEXTS["nearest"] % {"values": values_text, "example": _joined(list(fixed_values(nearest).values()))}


def wanted(names: list[str]) -> str:
    """The message about axes without a chosen value; without names, about a variant that is missing."""
    if not names:
        return _("Please choose a variant.")
    listed = reduce(lambda first, last: _("%(first)s and %(last)s") % {"first": first, "last": last}, names)
    return _("Please choose %(names)s.") % {"names": listed}


def script_texts() -> dict[str, str]:
    return {name: str(text) for name, text in TEXTS.items()}


def _joined(values: list[str]) -> str:
    return TEXTS["pair"] % {"first": values[0], "last": values[1]} if len(values) == 2 else ", ".join(values)


def _either(parts: list[str]) -> str:
    return reduce(lambda first, last: TEXTS["either"] % {"first": first, "last": last}, parts)


def _listed(values: list[str]) -> str:
    """Join values: `Blue`, `Blue or Red`; of many, the first MAX_NAMED."""
    if len(values) > MAX_NAMED:
        return TEXTS["others"] % {"values": ", ".join(values[:MAX_NAMED])}
    return _either(list(filter(None, [", ".join(values[:-1]), values[-1]])))


def _same(variant: Record, values: Values) -> list[bool]:
    fixed = fixed_values(variant)
    return [fixed.get(name, value) == value for name, value in values.items()]


def _fits(variant: Record, values: Values) -> bool:
    """Returns True if the variant has these values, or none of its own for their axes."""
    return all(values.get(name, value) == value for name, value in fixed_values(variant).items())


def _variant_of(variants: Iterable[Record], values: Values) -> Record | None:
    matching = [
        variant
        for variant in variants
        if all(values.get(name) == value for name, value in fixed_values(variant).items())
    ]
    return max(matching, key=lambda variant: len(fixed_values(variant))) if matching else None


def _first_variant(record: Record, variants: Sequence[Record], given: Values, entered: Values) -> Record:
    """The variant that completes the given values."""
    wanted = str(given.get("variant") or record["default_variant_id"] or "")
    fitting = [variant for variant in variants if _fits(variant, entered)] or variants
    named = [variant for variant in fitting if str(variant["id"]) == wanted]
    sellable = (variant for variant in fitting if _can_sell(record, variant))
    return named[0] if named else next(sellable, fitting[0])


def _values_of(record: Record, variants: Iterable[Record], name: str) -> dict[str, None]:
    """The values of an axis: those of the attribute that variants have, or all if a variant fits any; then others."""
    listed: list[str] = next(
        (a["values"] for a in record["attributes"] if a["name"] == name and a.get("variation")), []
    )
    used = dict.fromkeys(variant["option_values"].get(name) or "" for variant in variants)
    is_open = "" in used
    return dict.fromkeys([*(value for value in listed if is_open or value in used), *filter(None, used)])


def _axis_values(
    record: Record, variants: Iterable[Record], name: str, offered: Iterable[str], values: Values, notes: Values
) -> Iterable[AxisValue]:
    # One pass over the variants, since there may be many. The key "" is for variants that do not fix a value.
    others = {other: value for other, value in values.items() if other != name}
    made: set[str] = set()
    sellable: set[str] = set()
    for variant in variants:
        if _fits(variant, others):
            value = variant["option_values"].get(name) or ""
            made.add(value)
            if _can_sell(record, variant):
                sellable.add(value)
    for value in offered:
        is_made = not made.isdisjoint((value, ""))
        can_sell = not sellable.isdisjoint((value, ""))
        yield AxisValue(value, value, value == values[name], is_made, can_sell, notes.get(value, notes.get("", "")))


def _nameless_axis(shop: Shop, record: Record, variants: Sequence[Record], chosen: Record) -> Axis:
    """An axis of the variants' names, for variants without option values."""
    prices_differ = len({variant["price"] for variant in variants}) > 1
    values = []
    for variant in variants:
        note = _note(shop, record, variant, prices_differ=prices_differ)
        can_sell = _can_sell(record, variant)
        values.append(AxisValue(str(variant["id"]), variant["name"], variant is chosen, True, can_sell, note))
    return Axis(_("Variant"), "variant", values)


def _notes(shop: Shop, record: Record, variants: Sequence[Record], name: str) -> dict[str, str]:
    """The notes beside the values of the only axis, by value; "" is the key of a variant that fits any value."""
    prices_differ = len({variant["price"] for variant in variants}) > 1
    first: dict[str, Record] = {}
    for variant in variants:
        first.setdefault(variant["option_values"].get(name) or "", variant)
    return {value: _note(shop, record, each, prices_differ=prices_differ) for value, each in first.items()}


def _can_sell(record: Record, variant: Record) -> bool:
    return offers.stock_availability(variant, threshold=record["low_stock_threshold"]).can_sell


def _note(shop: Shop, record: Record, variant: Record, *, prices_differ: bool) -> str:
    """The note beside a value: the price if the variants' prices differ, and the stock if it is low or none."""
    price = format_money(Decimal(variant["price"]), shop.currency) if prices_differ else ""
    stock = offers.stock_availability(variant, threshold=record["low_stock_threshold"]).text
    return ", ".join(part for part in (price, stock) if part)

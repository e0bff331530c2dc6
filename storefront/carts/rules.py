"""What makes a line distinct, what it takes from stock, which choices and prices of a shopper's own are valid. Pure."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from storefront.carts.models import CartLine
from storefront.catalogue.models import Option, Product, Variant
from storefront.catalogue.stock import Kind, StockUse
from storefront.kit import money
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.pricing.rules import unit_price

MAX_QTY = 9_999
MAX_LINES = 200
MAX_CUSTOM_FIELDS = 20
MAX_FIELD_NAME = 100
MAX_TEXT = 1_000


class OptionRequired(Refusal):
    """A required option is not chosen (contract: Cart add rules, 3)."""

    code = "option_required"


class InvalidOption(Refusal):
    """What was sent for an option is not one of its values, or there is no such option."""

    code = "invalid_option"


class InvalidCustomPrice(Refusal):
    """The shopper's own price is not taken, or too low."""

    code, message = "invalid_custom_price", "This product does not take a price of your own."


@dataclass(frozen=True, slots=True)
class OfferedValue:
    """One value of an option; `price` is added to the line's price."""

    id: int
    label: str
    price: Decimal


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """A choice that a product offers. A text option has at most one value, which carries the price of any text."""

    id: int
    name: str
    type: str
    required: bool
    values: list[OfferedValue]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for one option: a value of it, or a text without `value_id`."""

    option_id: int
    name: str
    value: str
    price: Decimal
    value_id: int | None = None

    def stored(self) -> dict[str, Any]:
        """As a cart line keeps it. `value_id` is for pricing the line again and is not shown."""
        return {
            "id": self.option_id,
            "name": self.name,
            "value": self.value,
            "price": money.to_wire(self.price),
            "value_id": self.value_id,
        }


def choose(options: Iterable[OfferedOption], chosen: Mapping[str, Any] | None) -> list[Choice]:
    """The choices, in the options' order. Raises InvalidOption and OptionRequired, which name the option.

    `chosen` maps an option's id to the id of its value, or to free text for a text option. None and blank text mean
    that nothing is chosen.
    """
    offered = {str(option.id): option for option in options}
    given = {str(key): value for key, value in (chosen or {}).items()}
    for key in given:
        if key not in offered:
            raise _invalid(f"This product has no option {key[:40]!r}.")
    choices = (_choice(option, given.get(key)) for key, option in offered.items())
    return [choice for choice in choices if choice is not None]


def _choice(option: OfferedOption, given: Any) -> Choice | None:
    if given is None or (isinstance(given, str) and not given.strip()):
        if option.required:
            message = f"Please choose {option.name}."
            raise OptionRequired(message, errors={"options": [message]})
        return None
    if option.type == Option.Type.TEXT:
        return _text_choice(option, given)
    for value in option.values:
        if not isinstance(given, bool) and str(given) == str(value.id):
            return Choice(option.id, option.name, value.label, value.price, value.id)
    raise _invalid(f"What was sent is not a value of {option.name}.")


def _text_choice(option: OfferedOption, given: Any) -> Choice:
    if not isinstance(given, str) or len(given) > MAX_TEXT or "\0" in given:
        raise _invalid(f"{option.name} takes a text of at most {MAX_TEXT} characters.")
    price = option.values[0].price if option.values else money.ZERO
    return Choice(option.id, option.name, given.strip(), price)


def _invalid(message: str) -> InvalidOption:
    return InvalidOption(message, errors={"options": [message]})


def as_chosen(stored: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The choices that a line keeps, in the form that `choose` takes, to be checked against what is offered now."""
    return {
        str(choice["id"]): choice["value"] if choice["value_id"] is None else choice["value_id"] for choice in stored
    }


def check_custom_price(
    product: Product, variant: Variant | None, choices: Iterable[Choice], custom_price: Decimal | None
) -> None:
    """Raises InvalidCustomPrice where the product takes no price of the shopper's own, or a higher one."""
    least = product.min_custom_price
    if custom_price is None:
        # A product that is sold for what the shopper offers may have no price of its own, and is then not free.
        listed = unit_price(product, variant, [choice.price for choice in choices])
        too_low = product.allow_custom_price and least is not None and listed < least
    elif not product.allow_custom_price:
        raise InvalidCustomPrice(errors={"custom_price": [InvalidCustomPrice.message]})
    else:
        too_low = least is not None and custom_price < least
    if too_low:
        message = f"Please choose a price of at least {money.to_wire(least)}."
        raise InvalidCustomPrice(message, errors={"custom_price": [message]})


def custom_fields(given: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The fields as a line keeps them. Raises InvalidFields."""
    if len(given) > MAX_CUSTOM_FIELDS:
        raise InvalidFields(errors={"custom_fields": [f"Expected at most {MAX_CUSTOM_FIELDS}."]})
    fields = [{"name": field["name"].strip(), "value": field["value"]} for field in given]
    for field in fields:
        if not 1 <= len(field["name"]) <= MAX_FIELD_NAME or "\0" in field["name"]:
            raise InvalidFields(errors={"custom_fields": [f"Expected names of 1 to {MAX_FIELD_NAME} characters."]})
        if len(field["value"]) > MAX_TEXT or "\0" in field["value"]:
            raise InvalidFields(errors={"custom_fields": [f"Expected values of at most {MAX_TEXT} characters."]})
    return fields


def line_key(
    product_id: int,
    variant_id: int | None,
    *,
    choices: Iterable[Choice] = (),
    custom_fields: Iterable[Mapping[str, str]] = (),
    custom_price: Decimal | None = None,
    is_damaged: bool = False,
) -> str:
    """`p12`, `p12-v34`, and 12 hex digits behind it when something else makes the line distinct (decisions: Keys)."""
    plain = f"p{product_id}" if variant_id is None else f"p{product_id}-v{variant_id}"
    distinct: dict[str, Any] = {
        "custom_fields": sorted([field["name"], field["value"]] for field in custom_fields),
        "custom_price": money.to_wire(custom_price),
        "is_damaged": is_damaged,
        "options": {str(choice.option_id): choice.value_id or choice.value for choice in choices},
    }
    distinct = {name: value for name, value in distinct.items() if value}
    if not distinct:
        return plain
    canonical = orjson.dumps(distinct, option=orjson.OPT_SORT_KEYS)
    return f"{plain}-{hashlib.sha256(canonical).hexdigest()[:12]}"


def stock_uses(
    product_id: int,
    variant_id: int | None,
    qty: int,
    *,
    is_damaged: bool = False,
    bundle_items: Iterable[Mapping[str, Any]] = (),
) -> list[StockUse]:
    """The stocks that so many pieces take from: the parts of a bundle, else the variant's, else the product's.

    Whether a stock is tracked at all is not asked here. A bundle may name one part twice, so the answer adds up.
    """
    if is_damaged:
        return [StockUse("damaged", product_id, qty)]
    pieces: Counter[tuple[Kind, int]] = Counter()
    for item in bundle_items:
        pieces[_stock_of(item["product_id"], item["variant_id"])] += item["qty"] * qty
    if not pieces:
        pieces[_stock_of(product_id, variant_id)] = qty
    return [StockUse(kind, id, count) for (kind, id), count in pieces.items()]


def _stock_of(product_id: int, variant_id: int | None) -> tuple[Kind, int]:
    return ("product", product_id) if variant_id is None else ("variant", variant_id)


def line_stock_uses(line: CartLine, qty: int | None = None) -> list[StockUse]:
    """The stocks that a line takes from, for its own quantity or for another."""
    return stock_uses(
        line.product_id,
        line.variant_id,
        line.qty if qty is None else qty,
        is_damaged=line.is_damaged,
        bundle_items=line.bundle_items,
    )


def held(lines: Iterable[CartLine]) -> Counter[tuple[Kind, int]]:
    """How many pieces of each stock these lines ask for together."""
    pieces: Counter[tuple[Kind, int]] = Counter()
    for line in lines:
        for use in line_stock_uses(line):
            pieces[use.kind, use.id] += use.qty
    return pieces


def most_that_fit(
    one: Iterable[StockUse], taken: Mapping[tuple[Kind, int], int], levels: Mapping[tuple[Kind, int], int | None]
) -> int | None:
    """How many more pieces the stocks allow, beside what is taken of them; None when nothing limits it.

    `one` is what a single piece uses. `levels` holds what each stock can sell in all, None without a limit; a stock
    that is not in it has nothing.
    """
    limits = []
    for use in one:
        level = levels.get((use.kind, use.id), 0)
        if level is not None:
            limits.append(max((level - taken.get((use.kind, use.id), 0)) // use.qty, 0))
    return min(limits, default=None)

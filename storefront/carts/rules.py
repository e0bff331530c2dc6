"""Rules of cart lines: their key, the stock they use, valid options, texts and custom prices. No database access."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.carts.models import CartLine
from storefront.catalogue.models import MAX_TEXT_LENGTH, Option, Product, Variant
from storefront.catalogue.stock import Kind, StockUse
from storefront.kit import money
from storefront.kit.format import format_number
from storefront.kit.refusals import InvalidFields, Problem, Refusal, problem
from storefront.pricing.rules import unit_price

MAX_QTY = 9_999
MAX_LINES = 200
# Discount codes of a cart.
MAX_CODES = 10
# Gift cards that a cart can be paid with.
MAX_GIFT_CARDS = 10
# Lines that one call can add.
MAX_ADDED_LINES = 100
# Custom fields of a line, and characters of a field's name and of a text (R-LIM-6).
MAX_CUSTOM_FIELDS = 20
MAX_FIELD_NAME = 100
MAX_TEXT = MAX_TEXT_LENGTH
# Limit for the texts in all lines of a cart together, in bytes: every call reads the whole cart, and carts are copied.
MAX_CART_TEXT = 64 * 1024


class OptionRequired(Refusal):
    """A required option is not chosen (R-CART-26)."""

    code = "option_required"


class InvalidOption(Refusal):
    """The value is not one of the option's, or the product has no such option (R-CART-27)."""

    code = "invalid_option"


class InvalidCustomPrice(Refusal):
    """The product allows no custom price, or the price is too low (R-CART-28)."""

    code, message = "invalid_custom_price", gettext_lazy("This product does not accept a custom price.")


class TotalTooLarge(Refusal):
    """The cart's total would be higher than that of any order can be (R-LIM-5)."""

    code, field = "total_too_large", "qty"

    def __init__(self, message: str | None = None) -> None:
        most = format_number(money.MAX_AMOUNT)
        super().__init__(message or _("A cart can come to at most %(amount)s.") % {"amount": most})


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
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen value of an option. A free text has no `value_id`."""

    option_id: int
    name: str
    value: str
    price: Decimal
    value_id: int | None = None

    def stored(self) -> dict[str, Any]:
        """JSON for a cart line. `value_id` is used for repricing only; responses leave it out."""
        return {
            "id": self.option_id,
            "name": self.name,
            "value": self.value,
            "price": money.to_wire(self.price),
            "value_id": self.value_id,
        }


def resolve_choices(options: Iterable[OfferedOption], chosen: Mapping[str, Any] | None) -> list[Choice]:
    """Resolve the choices, in the order of the options. Raises InvalidOption or OptionRequired, with a problem for each
    option whose choice is invalid or missing.

    `chosen` maps an option's id to the id of a value, or to a text for a text option. None or blank text: no choice.
    """
    offered = {str(option.id): option for option in options}
    given = {str(key): value for key, value in (chosen or {}).items()}
    problems = [_unknown_option(key, offered.values()) for key in given if key not in offered]
    choices = []
    for key, option in offered.items():
        choice = _choice(option, given.get(key))
        if isinstance(choice, Choice):
            choices.append(choice)
        elif choice:
            problems.append(choice)
    if problems:
        refusal = OptionRequired if problems[0]["code"] == OptionRequired.code else InvalidOption
        raise refusal(problems[0]["message"], problems=problems)
    return choices


def _choice(option: OfferedOption, given: Any) -> Choice | Problem | None:
    """The choice, or what is wrong with it; None if the option is left open."""
    if given is None or (isinstance(given, str) and not given.strip()):
        message = _("Please choose %(option)s.") % {"option": option.name}
        return _option_problem(OptionRequired, message, option) if option.required else None
    if option.type == Option.Type.TEXT:
        longest = min(option.max_length or MAX_TEXT, MAX_TEXT)
        if not isinstance(given, str):
            return _option_problem(
                InvalidOption, _("%(option)s must be text.") % {"option": option.name}, option, max_length=longest
            )
        if len(given) > MAX_TEXT or len(given.strip()) > longest or "\0" in given:
            message = _("%(option)s can have at most %(most)s characters.") % {"option": option.name, "most": longest}
            return _option_problem(InvalidOption, message, option, max_length=longest)
        price = option.values[0].price if option.values else money.ZERO
        return Choice(option.id, option.name, given.strip(), price)
    for value in option.values:
        if not isinstance(given, bool) and str(given) == str(value.id):
            return Choice(option.id, option.name, value.label, value.price, value.id)
    message = _("This is not a valid choice for %(option)s.") % {"option": option.name}
    return _option_problem(InvalidOption, message, option)


def _option_problem(refusal: type[Refusal], message: str, option: OfferedOption, **help: Any) -> Problem:
    if option.type != Option.Type.TEXT:
        help["allowed"] = [{"id": value.id, "label": value.label} for value in option.values]
    return problem("options", refusal.code, message, option_id=option.id, option_name=option.name, **help)


def _unknown_option(key: str, offered: Iterable[OfferedOption]) -> Problem:
    options = [{"id": option.id, "name": option.name} for option in offered]
    message = _("This product has no option %(key)s.") % {"key": repr(key[:40])}
    return problem("options", InvalidOption.code, message, allowed=options)


def choices_to_resolve(stored: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A line's stored choices as the argument of `resolve_choices`, to check them against the current options."""
    return {
        str(choice["id"]): choice["value"] if choice["value_id"] is None else choice["value_id"] for choice in stored
    }


def check_custom_price(
    product: Product, variant: Variant | None, choices: Iterable[Choice], custom_price: Decimal | None, currency: str
) -> None:
    """Raises InvalidCustomPrice if the product allows no custom price, or only a higher one."""
    least = product.min_custom_price
    if custom_price is None:
        if not product.allow_custom_price or least is None:
            return
        # A pay-what-you-want product may be listed at 0; without a custom price, its minimum still applies.
        too_low = unit_price(product, variant, [choice.price for choice in choices], currency=currency) < least
    elif not product.allow_custom_price:
        raise InvalidCustomPrice(errors={"custom_price": [str(InvalidCustomPrice.message)]})
    else:
        too_low = least is not None and custom_price < least
    if too_low:
        message = _("Please choose a price of at least %(least)s.") % {"least": money.to_wire(least)}
        raise InvalidCustomPrice(message, errors={"custom_price": [message]})


def subtotal(lines: Iterable[CartLine]) -> Decimal:
    """The sum of these lines before discounts."""
    return sum((line.price_snapshot * line.qty for line in lines), money.ZERO)


def affordable_qty(price: Decimal, taken: Decimal) -> int:
    """The number of pieces at this price that can be added to a cart whose other lines come to `taken`."""
    return int(max(money.MAX_AMOUNT - taken, money.ZERO) // price) if price else MAX_QTY


def check_damaged(product: Product, is_damaged: bool) -> None:
    """Raises InvalidFields if damaged units are requested, and the product has no price for them."""
    if is_damaged and product.damaged_price is None:
        raise InvalidFields(errors={"is_damaged": [_("This product has no price for damaged units.")]})


def custom_fields(given: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The fields as a line stores them, names stripped. Raises InvalidFields."""
    if len(given) > MAX_CUSTOM_FIELDS:
        raise InvalidFields(errors={"custom_fields": [f"Expected at most {MAX_CUSTOM_FIELDS}."]})
    fields = [{"name": field["name"].strip(), "value": field["value"]} for field in given]
    for field in fields:
        if not 1 <= len(field["name"]) <= MAX_FIELD_NAME or "\0" in field["name"]:
            raise InvalidFields(errors={"custom_fields": [f"Expected names of 1 to {MAX_FIELD_NAME} characters."]})
        if len(field["value"]) > MAX_TEXT or "\0" in field["value"]:
            raise InvalidFields(errors={"custom_fields": [f"Expected values of at most {MAX_TEXT} characters."]})
    return fields


def text_bytes(line: CartLine) -> int:
    """Size of the line's custom fields, option texts and message, in bytes of UTF-8."""
    texts = [text for field in line.custom_fields for text in (field["name"], field["value"])]
    texts += [choice["value"] for choice in line.options if choice["value_id"] is None]
    texts += [line.gift_card["message"]] if line.gift_card else []
    return sum(len(text.encode()) for text in texts)


def too_much_text() -> str:
    """The message for texts that are longer than MAX_CART_TEXT together."""
    return _("The texts in a cart can have at most %(most)s KiB in total.") % {"most": MAX_CART_TEXT // 1024}


def has_room_for_text(line: CartLine, lines: Iterable[CartLine]) -> bool:
    """Returns True if the line's texts fit into a cart with these lines. A line without texts always fits."""
    size = text_bytes(line)
    return not size or size + sum(map(text_bytes, lines)) <= MAX_CART_TEXT


def line_key(
    product_id: int,
    variant_id: int | None,
    *,
    choices: Iterable[Choice] = (),
    custom_fields: Iterable[Mapping[str, str]] = (),
    custom_price: Decimal | None = None,
    is_damaged: bool = False,
    gift_card: Mapping[str, str] | None = None,
) -> str:
    """`p12` or `p12-v34`, with 12 hex digits appended if anything else makes the line distinct (R-CART-21)."""
    plain = f"p{product_id}" if variant_id is None else f"p{product_id}-v{variant_id}"
    distinct: dict[str, Any] = {
        "custom_fields": sorted([field["name"], field["value"]] for field in custom_fields),
        "custom_price": money.to_wire(custom_price),
        "gift_card": gift_card,
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
    bundle_items: Sequence[Mapping[str, Any]] = (),
) -> list[StockUse]:
    """The stocks that `qty` pieces use: those of a bundle's items, else the variant's, else the product's.

    Damaged pieces use a stock of their own (R-CART-29). Includes stocks that are not tracked. Quantities of the same
    stock are added up, since a bundle may contain an item twice.
    """
    if is_damaged:
        return [StockUse("damaged", product_id, qty)]
    if not bundle_items:
        return [StockUse(*_stock_of(product_id, variant_id), qty)]
    pieces: Counter[tuple[Kind, int]] = Counter()
    for item in bundle_items:
        pieces[_stock_of(item["product_id"], item["variant_id"])] += item["qty"] * qty
    return [StockUse(kind, id, count) for (kind, id), count in pieces.items()]


def _stock_of(product_id: int, variant_id: int | None) -> tuple[Kind, int]:
    return ("product", product_id) if variant_id is None else ("variant", variant_id)


def line_stock_uses(line: CartLine, qty: int | None = None) -> list[StockUse]:
    """The stocks that a line uses, for its own quantity or for another."""
    return stock_uses(
        line.product_id,
        line.variant_id,
        line.qty if qty is None else qty,
        is_damaged=line.is_damaged,
        bundle_items=line.bundle_items,
    )


def stock_needed(lines: Iterable[CartLine]) -> Counter[tuple[Kind, int]]:
    """Pieces of each stock that these lines need together: what is compared with the stock (R-CART-32)."""
    pieces: Counter[tuple[Kind, int]] = Counter()
    for line in lines:
        for use in line_stock_uses(line):
            pieces[use.kind, use.id] += use.qty
    return pieces


def addable_qty(
    one: Iterable[StockUse], taken: Mapping[tuple[Kind, int], int], levels: Mapping[tuple[Kind, int], int | None]
) -> int | None:
    """The number of pieces that can be added to those already taken; None without a limit.

    `one` is what a single piece uses. `levels` holds the sellable pieces of each stock, None without a limit; a stock
    that is absent has 0.
    """
    limits = []
    for use in one:
        level = levels.get((use.kind, use.id), 0)
        if level is not None:
            limits.append(max((level - taken.get((use.kind, use.id), 0)) // use.qty, 0))
    return min(limits, default=None)

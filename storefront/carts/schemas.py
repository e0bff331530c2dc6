"""The cart as it goes over the wire, both ways."""

from collections.abc import Sequence
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.carts import rules
from storefront.carts.models import CartLine
from storefront.catalogue.rules import LARGEST_ID
from storefront.kit.money import to_wire
from storefront.kit.schemas import Money, MoneyGiven
from storefront.pricing.rules import Totals

# Booleans, fractions and strings are no integers here, whatever pydantic would make of them.
Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]


def _choice(given: Any) -> int | str | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | str)):
        raise ValueError("must be the id of a value, or a text")
    return given


# Said as one expectation, where a union would list what each of its types has against the value.
Choice = Annotated[
    Any,
    BeforeValidator(_choice),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
]


class CustomFieldGiven(Schema):
    """Something the shopper writes for this line."""

    name: Annotated[str, Field(strict=True, min_length=1, max_length=rules.MAX_FIELD_NAME)] = Field(
        description="What it is, such as `Dedication`."
    )
    value: Annotated[str, Field(strict=True, max_length=rules.MAX_TEXT)] = Field(description="The text itself.")


class AddToCart(Schema):
    """What to put into the cart."""

    product_id: Id = Field(description="The product.")
    qty: Annotated[int, Field(strict=True, ge=1, le=rules.MAX_QTY)] = Field(
        description="How many pieces; added to those that the same line has already."
    )
    variant_id: Id | None = Field(None, description="The variant; required for a variable product.")
    options: dict[str, Choice] | None = Field(
        None, description="By option id: the id of the chosen value, or the text of a text option."
    )
    custom_fields: list[CustomFieldGiven] | None = Field(
        None, max_length=rules.MAX_CUSTOM_FIELDS, description="What the shopper writes for this line."
    )
    custom_price: MoneyGiven | None = Field(
        None, description="The shopper's own price for one piece, where the product allows one.", examples=["25.00"]
    )
    is_damaged: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="Whether to sell from the damaged pieces, at their price."
    )


class ChangeQty(Schema):
    """A line's new quantity."""

    qty: Annotated[int, Field(strict=True, ge=0, le=rules.MAX_QTY)] = Field(
        description="How many pieces the line then has; 0 removes it."
    )


class LineOption(Schema):
    """A choice on a line."""

    id: int = Field(description="The option.")
    name: str = Field(description="The option's name when it was chosen.")
    value: str = Field(description="The chosen value's label, or the text.")
    price: Money = Field(description="What it adds to the price of one piece.")


class LineBundleItem(Schema):
    """A part of a bundle."""

    product_id: int = Field(description="The part's product.")
    variant_id: int | None = Field(description="The part's variant, where it has one.")
    name: str = Field(description="The part's name.")
    sku: str = Field(description="The part's SKU.")
    qty: int = Field(description="How many of it are in one bundle.")


class LineCustomField(Schema):
    """Something the shopper wrote for this line."""

    name: str = Field(description="What it is.")
    value: str = Field(description="The text itself.")


class Line(Schema):
    """A line as the answer to adding shows it."""

    product_id: int = Field(description="The product.")
    variant_id: int | None = Field(description="The variant, where one was chosen.")
    qty: int = Field(description="How many pieces the line has now.")
    price_snapshot: Money = Field(description="Price of one piece with its options, as resolved when it was added.")
    name_snapshot: str = Field(description="The name when it was added.")
    image_snapshot: str | None = Field(description="Address of the product's first image when it was added.")
    is_digital: bool = Field(description="Whether it is downloaded instead of sent.")
    is_bundle: bool = Field(description="Whether it is made up of other products.")
    bundle_items: list[LineBundleItem] = Field(description="The parts of a bundle; empty for anything else.")
    custom_fields: list[LineCustomField] = Field(description="What the shopper wrote for this line.")
    is_damaged: bool = Field(description="Whether it sells from the damaged pieces.")


class AddedLine(Line):
    """A line as the answer to adding shows it."""

    options: list[LineOption] = Field(description="What was chosen.")


class CartItem(Line):
    """A line of the cart."""

    key: str = Field(description="Names the line for PATCH and DELETE. Read it from the cart, never build it.")
    line_total: Money = Field(description="price_snapshot times qty.")
    options: list[LineOption] = Field(description="What was chosen.")


class CartTotals(Schema):
    """What the cart comes to."""

    subtotal: Money = Field(description="Sum of the lines.")
    shipping: Money = Field(description="0.00: the cart has no address yet.")
    tax: Money = Field(description="0.00: the cart has no address yet.")
    discount: Money = Field(description="What automatic discounts take off.")
    total: Money = Field(description="subtotal - discount + shipping + tax, never below zero.")
    item_count: int = Field(description="Sum of the quantities.")
    line_count: int = Field(description="Number of lines.")


class CartContents(Schema):
    """Lines and totals."""

    items: list[CartItem] = Field(description="The lines, in the order they were added.")
    totals: CartTotals = Field(description="What they come to.")


class CartRead(Schema):
    """A cart, or the empty one that stands for none."""

    cart_token: str | None = Field(description="Names the cart; null where the token sent names none.")
    data: CartContents = Field(description="What is in it.")


class CartAdded(Schema):
    """The answer to adding."""

    message: str = Field(description="For people.", examples=["Item added to cart."])
    cart_token: str = Field(description="Send it as X-Cart-Token from now on. Treat it like a session id.")
    data: AddedLine = Field(description="The line as it is now.")


class CartChanged(Schema):
    """The cart after a change."""

    message: str = Field(description="For people.")
    cart_token: str = Field(description="Names the cart.")
    data: CartContents = Field(description="What is in it now.")


def line_record(line: CartLine) -> dict[str, Any]:
    """Members in the contract's order, `options` behind them; `key` and `line_total` belong to the cart read alone."""
    return {
        "product_id": line.product_id,
        "variant_id": line.variant_id,
        "qty": line.qty,
        "price_snapshot": to_wire(line.price_snapshot),
        "name_snapshot": line.name_snapshot,
        "image_snapshot": line.image_snapshot,
        "is_digital": line.is_digital,
        "is_bundle": line.is_bundle,
        "bundle_items": [
            _members(item, "product_id", "variant_id", "name", "sku", "qty") for item in line.bundle_items
        ],
        "custom_fields": [_members(given, "name", "value") for given in line.custom_fields],
        "is_damaged": line.is_damaged,
        "options": [_members(option, "id", "name", "value", "price") for option in line.options],
    }


def item_record(line: CartLine) -> dict[str, Any]:
    """A line of the cart read."""
    record = {"key": line.key} | line_record(line)
    options = record.pop("options")
    return record | {"line_total": to_wire(line.price_snapshot * line.qty), "options": options}


def contents_record(lines: Sequence[CartLine], totals: Totals) -> dict[str, Any]:
    """Lines and totals, as reads and changes answer them."""
    return {
        "items": [item_record(line) for line in lines],
        "totals": {
            "subtotal": to_wire(totals.subtotal),
            "shipping": to_wire(totals.shipping),
            "tax": to_wire(totals.tax),
            "discount": to_wire(totals.discount),
            "total": to_wire(totals.total),
            "item_count": totals.item_count,
            "line_count": totals.line_count,
        },
    }


def _members(stored: dict[str, Any], *names: str) -> dict[str, Any]:
    """These members in this order, which PostgreSQL does not keep."""
    return {name: stored[name] for name in names}

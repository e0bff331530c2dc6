"""Requests and responses of the cart API."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Annotated, Any

import orjson
from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.carts import rules
from storefront.carts.checked_schemas import CurrentLine, Problems, check_record
from storefront.carts.checking import LineCheck
from storefront.carts.gift_card_schemas import (
    CartGiftCard,
    GiftCardObject,
    LineGiftCard,
    applied_record,
    gift_card_record,
)
from storefront.carts.models import Cart, CartLine, CartOrder
from storefront.kit.api.conditional import etag_of
from storefront.kit.api.records import writer
from storefront.kit.api.schemas import Id, Money, MoneyGiven, Timestamp
from storefront.kit.clock import timestamp
from storefront.kit.money import to_wire
from storefront.pricing.rules import Totals
from storefront.shops import locales

# Integers are strict: pydantic would convert booleans, fractions and strings.


def _choice(given: Any) -> int | str | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | str)):
        raise ValueError("must be a value id or a text")
    return given


# A single validator gives one error message; a union would report an error for each of its types.
Choice = Annotated[
    Any,
    BeforeValidator(_choice),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
]


def _flag(given: Any) -> Any:
    """A flag in a query: 1 or true, 0 or false."""
    return {"1": True, "true": True, "0": False, "false": False}.get(str(given).lower(), given)


class CustomFieldGiven(Schema):
    """A custom text for a line."""

    name: Annotated[str, Field(strict=True, min_length=1, max_length=rules.MAX_FIELD_NAME)] = Field(
        description="The field's name, such as `Dedication`."
    )
    value: Annotated[str, Field(strict=True, max_length=rules.MAX_TEXT)] = Field(description="The field's value.")


# The members of R-CART-11.
class AddToCart(Schema):
    """A product to add to the cart."""

    product_id: Id = Field(description="The product's id.")
    qty: Annotated[int, Field(strict=True, ge=1, le=rules.MAX_QTY)] = Field(
        description="The quantity to add. If the cart already has the same line, it is added to that line."
    )
    variant_id: Id | None = Field(None, description="The variant's id. Required for a variable product.")
    options: dict[str, Choice] | None = Field(
        None, description="Chosen options: option id to value id, or to the text of a text option."
    )
    custom_fields: list[CustomFieldGiven] | None = Field(
        None, max_length=rules.MAX_CUSTOM_FIELDS, description="Custom texts for this line."
    )
    custom_price: MoneyGiven | None = Field(
        None, description="A custom unit price, if the product allows one.", examples=["25.00"]
    )
    is_damaged: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="Whether to sell a damaged unit, at the price of damaged units."
    )
    gift_card: GiftCardObject | None = Field(None, description="Only for a gift card: who gets it, and when.")


class AddLines(Schema):
    """Products to add to the cart: all of them, or none."""

    lines: Annotated[list[AddToCart], Field(min_length=1, max_length=rules.MAX_ADDED_LINES)] = Field(
        description="The lines to add, each as in `POST /api/v1/cart`. Equal lines add up."
    )


class CartQuery(Schema):
    """In which language the answer is."""

    locale: str | None = Field(None, description=locales.DESCRIPTION, examples=["de"])


class AddLinesQuery(CartQuery):
    """Options of adding several lines."""

    dry_run: Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})] = Field(
        False, description="`1` to check everything and answer as the write would, without changing anything."
    )


class ChangeQty(Schema):
    """A line's new quantity."""

    qty: Annotated[int, Field(strict=True, ge=0, le=rules.MAX_QTY)] = Field(
        description="The new quantity of the line. 0 removes the line."
    )


class LineOption(Schema):
    """A chosen option of a line."""

    id: int = Field(description="The option's id.")
    name: str = Field(description="The option's name when the line was added.")
    value: str = Field(description="The label of the chosen value, or the text.")
    price: Money = Field(description="Amount added to the unit price.")


class LineBundleItem(Schema):
    """An item of a bundle."""

    product_id: int = Field(description="The item's product id.")
    variant_id: int | None = Field(description="The item's variant id, if any.")
    name: str = Field(description="The item's name.")
    sku: str = Field(description="The item's SKU.")
    qty: int = Field(description="Quantity in one bundle.")


class LineCustomField(Schema):
    """A custom text of a line."""

    name: str = Field(description="The field's name.")
    value: str = Field(description="The field's value.")


class Line(Schema):
    """A line as the answer to adding shows it."""

    product_id: int = Field(description="The product's id.")
    variant_id: int | None = Field(description="The variant's id, if one was chosen.")
    qty: int = Field(description="The quantity of the line.")
    price_snapshot: Money = Field(description="Unit price with options, when the line was added.")
    name_snapshot: str = Field(description="Product name when the line was added.")
    image_snapshot: str | None = Field(
        description="URL of the variant's image when the line was added, or else of the product's first image."
    )
    is_digital: bool = Field(description="Whether the product is digital.")
    is_bundle: bool = Field(description="Whether the product is a bundle.")
    bundle_items: list[LineBundleItem] = Field(description="The items in the bundle; empty for other products.")
    custom_fields: list[LineCustomField] = Field(description="Custom texts for this line.")
    is_damaged: bool = Field(description="Whether the line sells damaged units.")


class AddedLine(Line):
    """A line as the answer to adding shows it."""

    options: list[LineOption] = Field(description="The chosen options.")
    gift_card: LineGiftCard | None = Field(description="Of a gift card, who gets it and when; null for other products.")
    available_from: Timestamp | None = Field(description="Of a pre-order with a date, when it is sent; else null.")


class CartItem(Line):
    """A line of the cart."""

    key: str = Field(description="Names the line for PATCH and DELETE. Read it from the cart, never build it.")
    line_total: Money = Field(description="price_snapshot times qty.")
    options: list[LineOption] = Field(description="The chosen options.")
    gift_card: LineGiftCard | None = Field(description="Of a gift card, who gets it and when; null for other products.")
    available_from: Timestamp | None = Field(description="Of a pre-order with a date, when it is sent; else null.")


class CheckedAddedLine(CurrentLine, AddedLine):
    """A line as the answer to adding shows it."""


class CheckedItem(CurrentLine, CartItem):
    """A line of the cart, and its availability now."""


class CartTotals(Schema):
    """Totals of the cart."""

    subtotal: Money = Field(description="Sum of the lines.")
    shipping: Money = Field(description="Always 0.00, because a cart has no address.")
    tax: Money = Field(description="Always 0.00, because a cart has no address.")
    discount: Money = Field(description="Total of the discounts, automatic ones and codes.")
    total: Money = Field(
        description="subtotal - discount + shipping, and + tax unless `tax_included`. Never below zero."
    )
    amount_due: Money = Field(description="What is left to pay after the cart's gift cards, which are a payment.")
    item_count: int = Field(description="Sum of the quantities.")
    line_count: int = Field(description="Number of lines.")
    tax_included: bool = Field(description="Whether `tax` is contained in the other sums. If not, it is added to them.")


class CodeRefusal(Schema):
    """Why a code takes nothing off."""

    code: str = Field(
        description="`discount_code_unknown`, `discount_code_expired`, `discount_code_used_up`, "
        "`discount_code_not_applicable` or `discount_code_not_combinable`.",
        examples=["discount_code_expired"],
    )
    message: str = Field(description="The reason for the shopper.", examples=["This code is no longer valid."])


class CartDiscountCode(Schema):
    """A discount code of the cart, and what it does now."""

    code: str = Field(description="The code, in capitals.", examples=["SPRING10"])
    name: str | None = Field(description="The discount's name; null if the code no longer exists.", examples=["Spring"])
    amount: Money = Field(description="What it takes off, as a part of `totals.discount`.")
    free_delivery: bool = Field(description="Whether it makes delivery free. That is no part of `totals.discount`.")
    refused: CodeRefusal | None = Field(description="Why it does not apply; null if it does.")


class SetDiscountCodes(Schema):
    """The discount codes of the cart."""

    codes: Annotated[
        list[Annotated[str, Field(strict=True, min_length=1, max_length=100)]], Field(max_length=rules.MAX_CODES)
    ] = Field(
        description="All codes that the cart shall have, in any case. An empty list removes them.",
        examples=[["SPRING10"]],
    )


class PlacedOrder(Schema):
    """An order placed with items from the cart."""

    id: int = Field(description="The order's id in `/api/apps/orders`.")
    number: int = Field(description="The order number that shopper and merchant see.")
    placed_at: str = Field(description="When the order was placed.", examples=["2026-11-21T08:30:00.000000Z"])


class CartContents(Schema):
    """Lines, totals and placed orders of the cart."""

    items: list[CheckedItem] = Field(description="The lines, in the order they were added.")
    totals: CartTotals = Field(description="The cart's totals.")
    orders: list[PlacedOrder] = Field(
        description="Orders placed through checkout links of this cart. Ordered items are removed from the cart."
    )
    discount_codes: list[CartDiscountCode] = Field(description="The cart's discount codes, in the order of entering.")
    gift_cards: list[CartGiftCard] = Field(description="The cart's gift cards, in the order in which they pay.")
    problems: Problems


class CartRead(Schema):
    """A cart, or an empty cart if there is none."""

    cart_token: str | None = Field(description="The cart's token; null if there is no cart.")
    data: CartContents = Field(description="The cart's contents.")


class CartAdded(Schema):
    """The added line and the token of its cart."""

    message: str = Field(description="Human-readable message.", examples=["Item added to cart."])
    cart_token: str = Field(
        description="The cart's token. Send it as X-Cart-Token with later requests. Treat it like a session id."
    )
    data: CheckedAddedLine = Field(description="The line after the change.")
    problems: Problems


class CartChanged(Schema):
    """The cart after a change."""

    message: str = Field(description="Human-readable message.")
    cart_token: str = Field(description="The cart's token.")
    data: CartContents = Field(description="The cart's contents after the change.")


class CartChecked(CartRead):
    """The cart as it would become, after a dry run."""

    message: str = Field(description="Human-readable message.", examples=["The lines can be added."])


# The members of R-CART-20 in its order, those of lists in the order of R-CART-24. Only the cart read has `key`, which
# comes first, and `line_total`.
_OF_LINE: dict[str, Any] = {
    "stored": ("bundle_items", "custom_fields", "options"),
    "gift_card": lambda line: gift_card_record(line.gift_card),
}
line_record = writer(AddedLine, **_OF_LINE)
item_record = writer(CartItem, first="key", line_total=lambda line: to_wire(line.price_snapshot * line.qty), **_OF_LINE)
totals_record = writer(CartTotals, tax_included=attrgetter("prices_include_tax"))
order_record = writer(PlacedOrder, id=attrgetter("order_id"), placed_at=lambda order: timestamp(order.placed_at))
# R-CART-42.
code_record = writer(
    CartDiscountCode,
    free_delivery=attrgetter("is_free_delivery"),
    refused=lambda result: {"code": result.refused, "message": result.message} if result.refused else None,
)


def contents_record(lines: Sequence[CartLine], totals: Totals) -> dict[str, Any]:
    """Lines and totals (R-CART-34)."""
    return {"items": [item_record(line) for line in lines], "totals": totals_record(totals)}


def cart_record(
    checks: Sequence[LineCheck],
    lines: Sequence[CartLine],
    totals: Totals,
    orders: Iterable[CartOrder],
    problems: list[dict[str, Any]],
) -> dict[str, Any]:
    """An integration's cart, as reads and changes return it. `lines` are those of the checks as they are shown."""
    contents = contents_record(lines, totals)
    for item, check in zip(contents["items"], checks, strict=True):
        item |= check_record(check)
    return contents | {
        "orders": [order_record(order) for order in orders],
        "discount_codes": [code_record(each) for each in totals.codes],
        "gift_cards": [applied_record(each) for each in totals.gift_cards],
        "problems": problems,
    }


def cart_etag(cart: Cart, lines: Iterable[CartLine]) -> str:
    """ETag of the cart (R-CART-40): of its lines, discount codes and gift cards. Totals do not count: a discount that
    begins or ends changes none of these."""
    state = [
        [line.key, line.qty, to_wire(line.price_snapshot), line.name_snapshot, line.image_snapshot, line.bundle_items]
        + ([timestamp(line.available_from)] if line.available_from else [])
        for line in lines
    ]
    entered = [cart.discount_codes, cart.gift_cards]
    return etag_of(orjson.dumps([cart.public_id, cart.ordered_at, state, *entered], option=orjson.OPT_SORT_KEYS))

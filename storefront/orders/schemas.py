"""Orders as they go over the wire, both ways. Answers are written by `queries.py`; these document them."""

import re
from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from ninja import Field, Schema
from pydantic import AfterValidator

from storefront.customers.schemas import Note
from storefront.kit.app_pagination import PageQuery, Pagination
from storefront.kit.ids import LARGEST_ID
from storefront.kit.schemas import Envelope, IdAlone, Moment, Money, MoneyGiven, Timestamp
from storefront.orders.rules import MOST_TAGS, check_tag

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_is_web_address = URLValidator(schemes=["http", "https"])


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not hold line breaks or control characters")
    return text.strip()


def _web_address(text: str) -> str:
    try:
        if text:
            _is_web_address(text)
    except ValidationError:
        raise ValueError("must be an http or https address") from None
    return text


Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Pieces = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Word = Annotated[str, Field(strict=True, max_length=100), AfterValidator(_one_line)]
WebAddress = Annotated[str, Field(strict=True, max_length=2048), AfterValidator(_web_address)]
Tag = Annotated[str, Field(strict=True), AfterValidator(check_tag)]
Flag = Annotated[bool, Field(strict=True)]
OrderStatus = Literal["open", "fulfilled", "cancelled"]


class OrderQuery(PageQuery):
    """What a list of orders can be asked for."""

    status: OrderStatus | None = Field(None, description="Only orders with this status.")
    placed_since: Moment | None = Field(None, description="Only orders placed at this moment or later.")


class OrderChange(Schema):
    """What to change of an order. Members that are not sent stay as they are."""

    note: Note = Field("", description="The shop's own note; shoppers do not see it.")
    tags: list[Tag] = Field(
        [],
        max_length=MOST_TAGS,
        description="All of the order's tags, each of 1 to 40 characters without a comma.",
        examples=[["gift", "call first"]],
    )


class LineToFulfil(Schema):
    """So many pieces of a line."""

    line_id: Id = Field(description="The line of the order.")
    qty: Pieces = Field(description="How many pieces of it; at most those that are left.")


class FulfilmentGiven(Schema):
    """What has been handed over, and where it is to be found."""

    lines: Annotated[list[LineToFulfil], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Which pieces; without it, everything that is left."
    )
    carrier: Word = Field("", description="Who carries it.", examples=["DHL"])
    tracking_number: Word = Field("", description="What the carrier calls the parcel.")
    tracking_url: WebAddress = Field("", description="Where the shopper can follow it.")


class CancellationGiven(Schema):
    """Why the order ends, and what becomes of its goods."""

    reason: Note = Field("", description="Kept with the order; shoppers do not see it.")
    restock: Flag = Field(True, description="Whether the goods go back to stock.")


class RefundGiven(Schema):
    """How much to give back."""

    amount: MoneyGiven | None = Field(None, description="How much; without it, all that is left of the payment.")
    reason: Note = Field("", description="Kept with the refund; shoppers do not see it.")
    restock: Flag = Field(
        False, description="Whether the order's goods go back to stock, once. An open order is cancelled for that."
    )


class TaxLine(Schema):
    """One tax of an order."""

    name: str = Field(description="The tax's name.")
    percent: str = Field(description="The rate.", examples=["19"])
    amount: Money = Field(description="What it comes to.")


class DiscountLine(Schema):
    """One discount of an order."""

    name: str = Field(description="The discount's name.")
    amount: Money = Field(description="What it takes off.")


class OrderRecord(Schema):
    """An order as the list shows it."""

    id: int = Field(description="The order's id.")
    number: int = Field(description="The number that the shopper knows; counted in each shop.")
    status: OrderStatus = Field(description="Whether there is something left to hand over.")
    payment_status: Literal["pending", "paid", "partially_refunded", "refunded"] = Field(
        description="Whether the money has come, or gone back."
    )
    customer_id: int | None = Field(description="The customer, where there is an account.")
    email: str = Field(description="The shopper's e-mail address.")
    phone: str = Field(description="The shopper's phone number; may be empty.")
    currency: str = Field(description="ISO 4217 code; all amounts are in it.", examples=["EUR"])
    subtotal: Money = Field(description="What the lines come to.")
    discount: Money = Field(description="What is taken off.")
    shipping: Money = Field(description="What delivery costs.")
    tax: Money = Field(description="Tax added to the prices, or contained in them.")
    total: Money = Field(description="What is paid.")
    refunded: Money = Field(description="What has been given back of it.")
    prices_include_tax: bool = Field(description="Whether the prices contain the tax.")
    tax_lines: list[TaxLine] = Field(description="The taxes one by one.")
    discount_lines: list[DiscountLine] = Field(description="The discounts one by one.")
    shipping_method: str = Field(description="The way of delivery; empty where nothing is delivered.")
    payment_method: str = Field(description="The way to pay; empty where there was nothing to pay.")
    note: str = Field(description="The shop's own note.")
    shopper_note: str = Field(description="What the shopper wrote.")
    tags: list[str] = Field(description="The shop's own tags.")
    placed_at: Timestamp = Field(description="When it was placed.")
    updated_at: Timestamp = Field(description="When something about it last changed.")
    cancelled_at: Timestamp | None = Field(description="When it was cancelled.")
    cancel_reason: str = Field(description="Why it was cancelled; may be empty.")
    restocked_at: Timestamp | None = Field(description="When its goods went back to stock.")


class OrderLineRecord(Schema):
    """One line of an order, as it was sold."""

    id: int = Field(description="The line's id.")
    product_id: int | None = Field(description="The product; null once it is gone.")
    variant_id: int | None = Field(description="The variant, if it was one.")
    sku: str = Field(description="The SKU; may be empty.")
    name: str = Field(description="The name.")
    image: str | None = Field(description="URL of the picture.")
    qty: int = Field(description="How many pieces were sold.")
    fulfilled_qty: int = Field(description="How many of them have been handed over.")
    unit_price: Money = Field(description="The price of a piece.")
    line_total: Money = Field(description="What the line comes to.")
    tax: Money = Field(description="The line's share of the tax.")
    is_digital: bool = Field(description="Whether it is delivered as data.")
    is_bundle: bool = Field(description="Whether it consists of other products.")
    is_damaged: bool = Field(description="Whether it was sold as damaged.")
    requires_shipping: bool = Field(description="Whether it is sent.")
    bundle_items: list[dict[str, Any]] = Field(description="What a bundle consists of.")
    options: list[dict[str, Any]] = Field(description="The chosen options.")
    custom_fields: list[dict[str, Any]] = Field(description="What the shopper wrote for this line.")


class PaymentRecord(Schema):
    """Money promised or received."""

    id: int = Field(description="The payment's id.")
    gateway: str = Field(description="The way to pay.", examples=["manual"])
    status: Literal["pending", "authorised", "paid", "voided"] = Field(description="Whether the money has come.")
    amount: Money = Field(description="How much.")
    refunded: Money = Field(description="How much of it has been given back, or is about to be.")
    currency: str = Field(description="ISO 4217 code.")
    reference: str = Field(description="The gateway's own name for it; may be empty.")
    created_at: Timestamp = Field(description="When it was promised.")
    updated_at: Timestamp = Field(description="When it last changed.")


class FulfilledLine(Schema):
    """So many pieces of a line."""

    line_id: int = Field(description="The line of the order.")
    qty: int = Field(description="How many pieces of it.")


class FulfilmentRecord(Schema):
    """What was handed over at once."""

    id: int = Field(description="The fulfilment's id.")
    order_id: int = Field(description="The order.")
    carrier: str = Field(description="Who carries it; may be empty.")
    tracking_number: str = Field(description="What the carrier calls the parcel; may be empty.")
    tracking_url: str = Field(description="Where it can be followed; may be empty.")
    lines: list[FulfilledLine] = Field(description="What it consists of.")
    created_at: Timestamp = Field(description="When it was written down.")


class RefundRecord(Schema):
    """Money given back, or about to be."""

    id: int = Field(description="The refund's id.")
    order_id: int = Field(description="The order.")
    payment_id: int = Field(description="The payment that it gives back.")
    status: Literal["pending", "done", "failed"] = Field(
        description="A pending one is carried out by its gateway within seconds; read the order to see its end."
    )
    amount: Money = Field(description="How much.")
    currency: str = Field(description="ISO 4217 code.")
    reason: str = Field(description="Why; may be empty.")
    restocked: bool = Field(description="Whether the order's goods went back to stock with it.")
    reference: str = Field(description="The gateway's own name for it; may be empty.")
    failure: str = Field(description="Why it failed; empty otherwise.")
    created_at: Timestamp = Field(description="When it was asked for.")
    updated_at: Timestamp = Field(description="When it last changed.")


class WholeOrder(OrderRecord):
    """An order as the single read shows it."""

    shipping_address: dict[str, str] | None = Field(description="Where it goes; null where nothing is delivered.")
    billing_address: dict[str, str] = Field(description="Who pays.")
    lines: list[OrderLineRecord] = Field(description="What was sold.")
    payments: list[PaymentRecord] = Field(description="How it is paid.")
    fulfilments: list[FulfilmentRecord] = Field(description="What has been handed over, oldest first.")
    refunds: list[RefundRecord] = Field(description="What is given back, oldest first.")


class OrderPage(Envelope):
    """One page of orders."""

    data: list[OrderRecord] = Field(description="The orders, newest first.")


class OneOrder(Schema):
    """One order."""

    data: WholeOrder = Field(description="The order.")


class ChangedOrder(Schema):
    """The order as it is now."""

    data: WholeOrder | IdAlone = Field(description="The order; its id alone without `read_orders`.")


class NewFulfilment(Schema):
    """The fulfilment."""

    data: FulfilmentRecord | IdAlone = Field(description="The fulfilment; its id alone without `read_orders`.")


class NewRefund(Schema):
    """The refund."""

    data: RefundRecord | IdAlone = Field(description="The refund; its id alone without `read_orders`.")


class OrdersOfApp(Schema):
    """One page of orders."""

    orders: list[OrderRecord] = Field(description="The orders, newest first.")
    pagination: Pagination = Field(description="Where this page stands.")


class OrderOfApp(Schema):
    """One order."""

    order: WholeOrder = Field(description="The order.")


class ChangedOrderOfApp(Schema):
    """The order as it is now."""

    order: WholeOrder | IdAlone = Field(description="The order; its id alone without `read_orders`.")


class NewFulfilmentOfApp(Schema):
    """The fulfilment."""

    fulfilment: FulfilmentRecord | IdAlone = Field(description="The fulfilment; its id alone without `read_orders`.")


class NewRefundOfApp(Schema):
    """The refund."""

    refund: RefundRecord | IdAlone = Field(description="The refund; its id alone without `read_orders`.")

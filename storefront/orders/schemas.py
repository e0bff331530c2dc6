"""Requests and responses of the orders API. `queries.py` writes the responses as these schemas have them."""

import re
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from ninja import Field, Schema
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from storefront.customers.schemas import Note
from storefront.kit.api.app_pagination import Pagination
from storefront.kit.api.members import choice, chosen, names_of
from storefront.kit.api.schemas import Change, Envelope, Id, IdAlone, Moment, Money, Timestamp
from storefront.orders.line_schemas import OrderLineRecord, TaxLine
from storefront.orders.refund_schemas import Flag, Pieces, RefundRecord
from storefront.orders.rules import MAX_TAGS, check_tag
from storefront.sync import schemas as sync

MAX_METADATA, MAX_NAME_LENGTH, MAX_VALUE_LENGTH = 20, 40, 500

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_is_web_address = URLValidator(schemes=["http", "https"])


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not contain line breaks or control characters")
    return text.strip()


def _web_address(text: str) -> str:
    try:
        if text:
            _is_web_address(text)
    except ValidationError:
        raise ValueError("must be a URL that begins with http:// or https://") from None
    return text


def _metadata(given: Any) -> Any:
    """Check the texts by name with a single error message; a schema would report an error for each name and value."""
    if not isinstance(given, dict):
        raise ValueError("must be an object")
    if len(given) > MAX_METADATA:
        raise ValueError(f"must have at most {MAX_METADATA} members")
    for name, value in given.items():
        if not 1 <= len(name) <= MAX_NAME_LENGTH:
            raise ValueError(f"must have names of 1 to {MAX_NAME_LENGTH} characters")
        if not isinstance(value, str) or len(value) > MAX_VALUE_LENGTH:
            raise ValueError(f"must have strings of at most {MAX_VALUE_LENGTH} characters as values")
    return given


Word = Annotated[str, Field(strict=True, max_length=100), AfterValidator(_one_line)]
WebAddress = Annotated[str, Field(strict=True, max_length=2048), AfterValidator(_web_address)]
ClientReference = Annotated[str, Field(strict=True, min_length=1, max_length=200)]
Metadata = Annotated[
    Any,
    BeforeValidator(_metadata),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MAX_METADATA,
            "propertyNames": {"minLength": 1, "maxLength": MAX_NAME_LENGTH},
            "additionalProperties": {"type": "string", "maxLength": MAX_VALUE_LENGTH},
        }
    ),
]
Tag = Annotated[str, Field(strict=True), AfterValidator(check_tag)]
OrderStatus = Literal["open", "fulfilled", "cancelled"]


class OrderChange(Change):
    """Changes of an order. Members that are not sent do not change."""

    note: Note = Field("", description="Internal note. Shoppers do not see it.")
    tags: list[Tag] = Field(
        [],
        max_length=MAX_TAGS,
        description="All of the order's tags. Each has 1 to 40 characters and no comma.",
        examples=[["gift", "call first"]],
    )
    client_reference: Annotated[str, Field(strict=True, max_length=200)] = Field(
        "", description="The integration's own reference. An empty string removes it."
    )
    metadata: Metadata = Field({}, description="All of the integration's own texts, by name.")


class LineToFulfil(Schema):
    """A quantity of an order line."""

    line_id: Id = Field(description="The order line's id.")
    qty: Pieces = Field(description="Quantity to fulfil, at most the quantity that is left.")


class FulfilmentGiven(Schema):
    """Fulfilled items and their tracking data."""

    lines: Annotated[list[LineToFulfil], Field(min_length=1, max_length=1000)] | None = Field(
        None,
        description="The lines to fulfil. By default everything that is left, without pre-orders that are not due.",
    )
    carrier: Word = Field("", description="The carrier.", examples=["DHL"])
    tracking_number: Word = Field("", description="The carrier's tracking number.")
    tracking_url: WebAddress = Field("", description="Where the shopper can track the parcel.")


class CancellationGiven(Schema):
    """Why the order is cancelled, and whether to restock its items."""

    reason: Note = Field("", description="Stored with the order. Shoppers do not see it.")
    restock: Flag = Field(True, description="Whether to restock the items.")


class VatCheck(Schema):
    """The result of checking the customer's VAT ID with VIES, the EU's register."""

    result: Literal["valid", "invalid", "unavailable"] = Field(
        description="Only `valid` frees from tax. `unavailable`: there was no answer."
    )
    checked_at: Timestamp = Field(description="When it was asked.")
    consultation_number: str | None = Field(
        description="The register's number of this check; only where the shop has a VAT ID of its own."
    )
    name: str | None = Field(description="The business to which the VAT ID belongs, if the member state tells.")


class DiscountLine(Schema):
    """A discount of an order."""

    name: str = Field(description="The discount's name.")
    amount: Money = Field(description="The discount amount; 0.00 for free delivery.")
    code: str | None = Field(description="The code that it was given for; null for an automatic one.")


class SpentGiftCard(Schema):
    """The amount that a gift card paid of an order."""

    last_four: str = Field(description="The last four characters of its code.", examples=["K7QM"])
    amount: Money = Field(description="What it paid.")


class OrderRecord(Schema):
    """An order in a list."""

    id: int = Field(description="The order's id.")
    number: int = Field(description="The order number that shopper and merchant see, unique in the shop.")
    status: OrderStatus = Field(description="The order's status. An open order has items left to fulfil.")
    payment_status: Literal["pending", "paid", "partially_refunded", "refunded"] = Field(
        description="The payment status."
    )
    fulfilment_status: Literal["unfulfilled", "partially_fulfilled", "fulfilled"] = Field(
        description="How much of the order was sent. Digital products, gift cards and refunded items need no sending."
    )
    customer_id: int | None = Field(description="The customer's id; null for a guest.")
    email: str = Field(description="The shopper's email address.")
    phone: str = Field(description="The shopper's phone number; may be empty.")
    currency: str = Field(description="ISO 4217 currency code of all amounts.", examples=["EUR"])
    subtotal: Money = Field(description="Sum of the lines.")
    discount: Money = Field(description="Total of discounts.")
    shipping: Money = Field(description="Delivery price.")
    tax: Money = Field(description="Tax added to the prices, or included in them.")
    total: Money = Field(description="Total of the order.")
    refunded: Money = Field(description="Amount refunded.")
    amount_due: Money = Field(
        description="What is left to pay after gift cards, which are a payment; zero once the order is paid or "
        "cancelled."
    )
    gift_cards: list[SpentGiftCard] = Field(description="What gift cards paid of the total.")
    prices_include_tax: bool = Field(description="The same as `tax_included`.")
    tax_included: bool = Field(
        description="Whether `tax` is contained in the other sums: total = subtotal - discount + shipping. If not, it "
        "is added to them."
    )
    tax_lines: list[TaxLine] = Field(description="The taxes by rate, and what was free of tax.")
    vat_id: str | None = Field(description="The customer's VAT ID, if it was given.", examples=["ATU13585627"])
    vat_check: VatCheck | None = Field(description="What came of checking it.")
    discount_lines: list[DiscountLine] = Field(description="The individual discounts.")
    shipping_method: str = Field(description="The delivery method or pick-up; empty if nothing is delivered.")
    delivery_time: str = Field(description="How long it takes, as the shopper saw it; may be empty.")
    pickup_place: dict[str, str] | None = Field(
        description="The address where the shopper collects the order, with its opening hours (`hours`); null if it is "
        "not collected."
    )
    payment_method: str = Field(description="The payment method; empty if the order was free.")
    note: str = Field(description="Internal note. Shoppers do not see it.")
    shopper_note: str = Field(description="The shopper's note.")
    tags: list[str] = Field(description="The order's tags.")
    client_reference: str | None = Field(description="The reference given with the checkout link.")
    metadata: dict[str, str] = Field(description="The texts given with the checkout link, by name.")
    return_url: str | None = Field(description="Where the shopper can go after the order.")
    cancel_url: str | None = Field(description="Where the shopper could go instead of ordering.")
    cart: str | None = Field(
        description="The parameter `cart` of the checkout link that brought items of the order. Of several links, the "
        "one that was followed last."
    )
    placed_at: Timestamp = Field(description="When the order was placed.")
    updated_at: Timestamp = Field(description="When the order last changed.")
    cancelled_at: Timestamp | None = Field(description="When the order was cancelled.")
    cancel_reason: str = Field(description="Cancellation reason; may be empty.")
    restocked_at: Timestamp | None = Field(description="When the order's items were restocked.")


class PaymentRecord(Schema):
    """A payment of an order, pending or received."""

    id: int = Field(description="The payment's id.")
    gateway: str = Field(description="The payment method.", examples=["manual"])
    status: Literal["pending", "authorised", "paid", "voided"] = Field(description="The payment's status.")
    state: Literal["started", "open", "processing", "promised", "authorised", "paid", "cancelled"] = Field(
        description="The status in more detail: how the payment stands with its provider."
    )
    amount: Money = Field(description="The amount.")
    refunded: Money = Field(description="Amount that has been refunded or is being refunded.")
    currency: str = Field(description="ISO 4217 code.")
    reference: str = Field(description="The gateway's id; may be empty.")
    created_at: Timestamp = Field(description="When the payment was created.")
    updated_at: Timestamp = Field(description="When it last changed.")


class FulfilledLine(Schema):
    """A quantity of an order line."""

    line_id: int = Field(description="The order line's id.")
    qty: int = Field(description="Quantity fulfilled.")


class FulfilmentRecord(Schema):
    """Items of an order that were shipped or picked up together."""

    id: int = Field(description="The fulfilment's id.")
    order_id: int = Field(description="The order's id.")
    carrier: str = Field(description="The carrier; may be empty.")
    tracking_number: str = Field(description="The carrier's tracking number; may be empty.")
    tracking_url: str = Field(description="Where the parcel can be tracked; may be empty.")
    lines: list[FulfilledLine] = Field(description="The fulfilled quantities by line.")
    created_at: Timestamp = Field(description="When the fulfilment was created.")
    cancelled_at: Timestamp | None = Field(
        description="When it was cancelled: then its items are left to fulfil again. Otherwise null."
    )


class WholeOrder(OrderRecord):
    """A single order with all its details."""

    shipping_address: dict[str, str] | None = Field(description="The delivery address; null if nothing is sent.")
    billing_address: dict[str, str] = Field(description="The billing address.")
    lines: list[OrderLineRecord] = Field(description="The order lines.")
    payments: list[PaymentRecord] = Field(description="The payments.")
    fulfilments: list[FulfilmentRecord] = Field(description="The fulfilments, oldest first.")
    refunds: list[RefundRecord] = Field(description="The refunds, oldest first.")


LISTED = names_of(OrderRecord)
FIELDS = names_of(WholeOrder)
# Members that only the single read shows unless they are included.
INCLUDED = tuple(name for name in FIELDS if name not in LISTED)


class OrderQuery(sync.CopyQuery):
    """Filters for the list of orders."""

    status: OrderStatus | None = Field(None, description="Only orders with this status.")
    placed_since: Moment | None = Field(None, description="Only orders placed at or after this time.")
    email: Annotated[str, Field(min_length=1, max_length=254)] | None = Field(
        None, description="Only orders with this email address, in any case."
    )
    client_reference: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        None, description="Only orders with this reference, exactly."
    )
    cart: UUID | None = Field(
        None,
        description="Only the order with items of this checkout link: its parameter `cart`. Not a cart token.",
        examples=["8b1f6a0e-3c52-4d43-9a52-0f3c1f6f2a11"],
    )
    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]
    include: choice(INCLUDED) | None = Field(None, description=sync.INCLUDE)  # type: ignore[valid-type]

    @property
    def members(self) -> frozenset[str] | None:
        """The members to show; None: those that lists show."""
        return chosen(LISTED, self.fields, self.include)


class SingleOrderQuery(Schema):
    """What a single order shows."""

    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]


class OrderPage(Envelope):
    """One page of orders."""

    data: list[OrderRecord] = Field(description="The orders, newest first.")
    deleted: list[sync.Deleted] | None = Field(None, description=sync.DELETED)


class OrderRun(Schema):
    """An answer to `after`."""

    data: list[OrderRecord] = Field(description="The orders as they are now.")
    deleted: list[sync.Deleted] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class OneOrder(Schema):
    """One order."""

    data: WholeOrder = Field(description="The order's id.")


class OrderOfApp(Schema):
    """One order."""

    order: WholeOrder = Field(description="The order's id.")


class ChangedOrder(Schema):
    """The order after the change."""

    data: WholeOrder | IdAlone = Field(description="The order. Only its id without the scope `read_orders`.")


class NewFulfilment(Schema):
    """The fulfilment."""

    data: FulfilmentRecord | IdAlone = Field(description="The fulfilment. Only its id without the scope `read_orders`.")


class NewRefund(Schema):
    """The refund."""

    data: RefundRecord | IdAlone = Field(description="The refund. Only its id without the scope `read_orders`.")


class OrdersOfApp(Schema):
    """One page of orders."""

    orders: list[OrderRecord] = Field(description="The orders, newest first.")
    pagination: Pagination = Field(description="Position of this page in the list.")
    deleted: list[sync.Deleted] | None = Field(None, description=sync.DELETED)


class OrderRunOfApp(Schema):
    """An answer to `after`."""

    orders: list[OrderRecord] = Field(description="The orders as they are now.")
    deleted: list[sync.Deleted] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)

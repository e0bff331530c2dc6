"""Refunds in the orders API."""

from typing import Annotated, Literal

from ninja import Field, Schema

from storefront.customers.schemas import Note
from storefront.kit.api.schemas import Id, Money, MoneyGiven, Timestamp
from storefront.kit.ids import MAX_ID

Pieces = Annotated[int, Field(strict=True, ge=1, le=MAX_ID)]
Flag = Annotated[bool, Field(strict=True)]


class LineToRefund(Schema):
    """Pieces of an order line to refund."""

    line_id: Id = Field(description="The order line's id.")
    qty: Pieces = Field(description="Quantity to refund, at most the quantity that was not refunded yet.")
    restock: Flag | None = Field(None, description="Whether to restock these pieces. By default as the refund says.")
    sent: Flag | None = Field(
        None,
        description="`false`: pieces that are not sent yet, and will not be. `true`: pieces that were sent. By default "
        "those that are not sent first.",
    )


class RefundGiven(Schema):
    """The refund to make."""

    amount: MoneyGiven | None = Field(
        None,
        description="Amount to refund. By default what `lines` and `shipping` come to, which is also the most that it "
        "can be beside them. Without them, the full remaining amount.",
    )
    lines: Annotated[list[LineToRefund], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Pieces to refund. They cost what was paid for them: with tax, less their share of discounts."
    )
    shipping: MoneyGiven | None = Field(
        None, description="How much of what was paid for the delivery, with its tax, to refund besides."
    )
    reason: Note = Field("", description="Stored with the refund. Shoppers do not see it.")
    restock: Flag = Field(
        False,
        description="Whether to restock the items: those of `lines`, or else all of the order, once. Cancel an open "
        "order instead of restocking all of it.",
    )


class RefundedLine(Schema):
    """Pieces of an order line that a refund pays back."""

    line_id: int = Field(description="The order line's id.")
    qty: int = Field(description="Quantity refunded.")
    amount: Money = Field(description="What was paid for these pieces, with tax and after discounts.")
    tax: Money = Field(description="The tax in it.")
    withdrawn_qty: int = Field(description="How many of the pieces had not been sent, and need not be.")
    restocked_qty: int = Field(description="How many of the pieces were restocked with the refund.")


class RefundRecord(Schema):
    """A refund, pending or completed: requested in the shop, or made at the gateway."""

    id: int = Field(description="The refund's id.")
    order_id: int = Field(description="The order's id.")
    payment_id: int = Field(description="The id of the refunded payment.")
    status: Literal["pending", "done", "failed"] = Field(
        description="The gateway processes a pending refund within seconds, with some payment methods within days. Get "
        "the order to see the result. A refund that is done can fail days later, if the bank sends the money back."
    )
    part_of: int | None = Field(
        description="Where several payments are refunded, each by a refund: the id of the one that has `lines` and "
        "`shipping`. Otherwise null."
    )
    origin: Literal["shop", "provider"] = Field(
        description="`provider`: made at the gateway, as in its dashboard. `shop`: asked for in the admin or the API."
    )
    amount: Money = Field(description="The amount.")
    currency: str = Field(description="ISO 4217 code.")
    shipping: Money = Field(
        description="How much is for the delivery, of the amount and of the refunds that are a part of this."
    )
    lines: list[RefundedLine] = Field(
        description="The pieces that are refunded; empty for a refund of an amount alone."
    )
    reason: str = Field(description="The reason; may be empty.")
    restocked: bool = Field(description="Whether items were restocked with the refund.")
    reference: str = Field(description="The gateway's id; may be empty.")
    failure: str = Field(description="Why the refund failed; otherwise empty.")
    created_at: Timestamp = Field(description="When the refund was created.")
    updated_at: Timestamp = Field(description="When it last changed.")

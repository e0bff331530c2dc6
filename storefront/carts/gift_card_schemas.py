"""Gift cards in requests and responses of the cart API: those that a cart is paid with, and those that it buys."""

from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator

from storefront.carts import rules
from storefront.carts.gift_card_lines import MAX_GIVER
from storefront.gift_cards.applying import AppliedCard
from storefront.gift_cards.issuing import MAX_MESSAGE
from storefront.kit.api.schemas import Money
from storefront.kit.money import to_wire


def _is_object(given: Any) -> Any:
    # Without this check any value would be valid, since no member is required.
    if not isinstance(given, dict):
        raise ValueError("must be an object")
    return given


class GiftCardGiven(Schema):
    """Who gets a gift card that is bought, and when."""

    recipient_email: Annotated[str, Field(strict=True, max_length=254)] | None = Field(
        None, description="Where the code is mailed. By default the order's email address."
    )
    message: Annotated[str, Field(strict=True, max_length=MAX_MESSAGE)] | None = Field(
        None, description="A message that is printed in the mail."
    )
    giver: Annotated[str, Field(strict=True, max_length=MAX_GIVER)] | None = Field(
        None, description="The giver, as named on the card."
    )
    send_on: Annotated[str, Field(strict=True, max_length=10)] | None = Field(
        None,
        description="The day on which it is mailed, today or within a year. By default as soon as it is paid for.",
        examples=["2026-12-24"],
    )


GiftCardObject = Annotated[GiftCardGiven, BeforeValidator(_is_object)]


class LineGiftCard(Schema):
    """Who gets a gift card that is bought, and when."""

    recipient_email: str | None = Field(description="Where the code is mailed; null: to the order's email address.")
    message: str = Field(description="The message in the mail; may be empty.")
    giver: str | None = Field(description="Who gives it, as the card says; null: the card does not say.")
    send_on: str | None = Field(description="The day on which it is mailed; null: as soon as it is paid for.")


class GiftCardRefusal(Schema):
    """Why a gift card pays nothing."""

    code: str = Field(
        description="`gift_card_disabled`, `gift_card_expired`, `gift_card_used_up`, `gift_card_other_currency` or "
        "`gift_card_not_needed`.",
        examples=["gift_card_expired"],
    )
    message: str = Field(description="The reason for the shopper.", examples=["This gift card has expired."])


class CartGiftCard(Schema):
    """A gift card of the cart, and what it pays now."""

    last_four: str = Field(description="The last four characters of its code.", examples=["K7QM"])
    amount: Money = Field(description="What it pays of the total.")
    refused: GiftCardRefusal | None = Field(description="Why it pays nothing; null if it pays.")


class SetGiftCards(Schema):
    """The gift cards of the cart."""

    codes: Annotated[
        list[Annotated[str, Field(strict=True, min_length=1, max_length=100)]], Field(max_length=rules.MAX_GIFT_CARDS)
    ] = Field(
        description="The codes of all gift cards that the cart shall be paid with, in any case. An empty list removes "
        "them.",
        examples=[["K7QM-2VXR-9TWB-4HNC-M3PD"]],
    )


def gift_card_record(chosen: dict[str, str] | None) -> dict[str, Any] | None:
    """The buyer's entry for a gift card; None for a line without one."""
    if chosen is None:
        return None
    return {
        "recipient_email": chosen["recipient_email"] or None,
        "message": chosen["message"],
        "giver": chosen.get("giver") or None,
        "send_on": chosen["send_on"] or None,
    }


def applied_record(card: AppliedCard) -> dict[str, Any]:
    """A gift card as cart reads and changes return it (R-CART-47)."""
    return {
        "last_four": card.last_four,
        "amount": to_wire(card.amount),
        "refused": {"code": card.refused, "message": card.message} if card.refused else None,
    }

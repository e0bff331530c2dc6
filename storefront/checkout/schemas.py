from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.orders.schemas import ClientReference, WebAddress

MOST_METADATA, LONGEST_NAME, LONGEST_VALUE = 20, 40, 500


def _metadata(given: Any) -> Any:
    """The texts by name. One error message; a schema would report an error for each name and value."""
    if not isinstance(given, dict):
        raise ValueError("must be an object")
    if len(given) > MOST_METADATA:
        raise ValueError(f"must have at most {MOST_METADATA} members")
    for name, value in given.items():
        if not 1 <= len(name) <= LONGEST_NAME:
            raise ValueError(f"must have names of 1 to {LONGEST_NAME} characters")
        if not isinstance(value, str) or len(value) > LONGEST_VALUE:
            raise ValueError(f"must have strings of at most {LONGEST_VALUE} characters as values")
    return given


Metadata = Annotated[
    Any,
    BeforeValidator(_metadata),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MOST_METADATA,
            "propertyNames": {"minLength": 1, "maxLength": LONGEST_NAME},
            "additionalProperties": {"type": "string", "maxLength": LONGEST_VALUE},
        }
    ),
]


class CheckoutLinkGiven(Schema):
    """What the order made with this link is to have, and where the shopper can go from here. The addresses must be on
    origins that the merchant has allowed."""

    return_url: WebAddress | None = Field(
        None,
        description="Where the confirmation page leads back to. `{ORDER_NUMBER}` in it is replaced by the order's number.",
        examples=["https://www.example.com/thanks?order={ORDER_NUMBER}"],
    )
    cancel_url: WebAddress | None = Field(
        None,
        description="Where the basket and the checkout lead back to.",
        examples=["https://www.example.com/cart"],
    )
    client_reference: ClientReference | None = Field(
        None, description="Your own reference, such as your order's or session's id.", examples=["session-4711"]
    )
    metadata: Metadata | None = Field(
        None, description="Your own texts by name. Shoppers do not see them.", examples=[{"campaign": "autumn"}]
    )


class CheckoutLink(Schema):
    """A link that takes one shopper to the shop's checkout."""

    cart_token: str = Field(description="The cart's token.")
    checkout_url: str = Field(
        description="Send the shopper to this URL. Treat it like a password: never store, log or email it.",
        examples=["https://shop.example.com/cart/resume?cart=8b1f...&expires=1795250000&signature=5d0c..."],
    )
    expires_in: int = Field(description="Seconds until the link stops working.", examples=[3600])

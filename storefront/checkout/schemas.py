from ninja import Field, Schema


class CheckoutLink(Schema):
    """A link that takes one shopper to the shop's checkout."""

    cart_token: str = Field(description="The cart's token.")
    checkout_url: str = Field(
        description="Send the shopper to this URL. Treat it like a password: never store, log or email it.",
        examples=["https://shop.example.com/cart/resume?cart=8b1f...&expires=1795250000&signature=5d0c..."],
    )
    expires_in: int = Field(description="Seconds until the link stops working.", examples=[3600])

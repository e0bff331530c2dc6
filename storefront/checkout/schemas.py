from ninja import Field, Schema


class CheckoutLink(Schema):
    """The way for one shopper from the integration to the shop's own checkout."""

    cart_token: str = Field(description="The token of the cart, as it was sent.")
    checkout_url: str = Field(
        description="Send the shopper here. It is as powerful as a password: never store, log or mail it.",
        examples=["https://shop.example.com/cart/resume?cart=8b1f...&expires=1795250000&signature=5d0c..."],
    )
    expires_in: int = Field(description="Seconds until the link stops working.", examples=[3600])

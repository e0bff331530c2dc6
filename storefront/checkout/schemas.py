from ninja import Field, Schema

from storefront.carts.checked_schemas import Problems
from storefront.carts.schemas import CartItem
from storefront.kit.api.schemas import Money, Timestamp
from storefront.orders.schemas import ClientReference, Metadata, WebAddress


class CheckoutLinkGiven(Schema):
    """Data for the order that is placed with this link, and URLs to which the shopper can return. The URLs must be on
    origins that the merchant has allowed."""

    return_url: WebAddress | None = Field(
        None,
        description="Where the confirmation page leads back to. `{ORDER_NUMBER}` in it becomes the order's number.",
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
    locale: str | None = Field(
        None,
        description="The language of the pages that the link leads to, one of the shop's, such as `de` or `de-AT`. "
        "Without it, they are in its main language.",
        examples=["de"],
    )


class CheckoutLink(Schema):
    """A link that takes one shopper to the shop's checkout."""

    cart_token: str = Field(description="The cart's token.")
    checkout_url: str = Field(
        description="Send the shopper to this URL. Treat it like a password: never store, log or email it.",
        examples=["https://shop.example.com/cart/resume?cart=8b1f...&expires=1795250000&signature=5d0c..."],
    )
    expires_in: int = Field(description="Seconds until the link stops working.", examples=[3600])
    problems: Problems


class CheckoutTotals(Schema):
    """Totals of a checkout, as far as its address and delivery are known."""

    subtotal: Money = Field(description="Sum of the lines.")
    shipping: Money = Field(description="Price of the chosen delivery; 0.00 before one is chosen.")
    tax: Money = Field(description="Tax added to the prices, or included in them; 0.00 without an address.")
    discount: Money = Field(description="Total of discounts.")
    total: Money = Field(description="What the shopper would pay.")
    item_count: int = Field(description="Sum of the quantities.")
    line_count: int = Field(description="Number of lines.")
    tax_included: bool = Field(description="Whether `tax` is contained in the other sums. If not, it is added to them.")


class AbandonedCheckout(Schema):
    """A checkout that a shopper left without ordering."""

    id: int = Field(description="The checkout's id.")
    customer_id: int | None = Field(description="The customer's id; null for a guest.")
    email: str = Field(description="The email address that the shopper entered.")
    phone: str = Field(description="The phone number that the shopper entered; may be empty.")
    currency: str = Field(description="ISO 4217 currency code of all amounts.", examples=["EUR"])
    shipping_address: dict[str, str] | None = Field(description="The delivery address; null if none was entered.")
    items: list[CartItem] = Field(description="The lines of the basket.")
    totals: CheckoutTotals = Field(description="The totals.")
    client_reference: str | None = Field(description="The reference given with the checkout link.")
    metadata: dict[str, str] = Field(description="The texts given with the checkout link, by name.")
    cancel_url: str | None = Field(description="Where the checkout leads back to.")
    cart: str | None = Field(description="The parameter `cart` of the checkout link that brought items.")
    created_at: Timestamp = Field(description="When the shopper first entered an email address.")
    updated_at: Timestamp = Field(description="When the shopper last entered something.")

"""The lines of an order in the API."""

from ninja import Field, Schema

from storefront.carts.schemas import LineBundleItem, LineCustomField, LineOption
from storefront.kit.schemas import Money, Timestamp


class ChosenOption(LineOption):
    """A chosen option of an order line."""

    value_id: int | None = Field(None, description="The id of the chosen value; null for a text.")


class DownloadRecord(Schema):
    """A file that the shopper can download."""

    url: str | None = Field(
        description="The page that sends the file. A day after the order, it asks the shopper for the order's email "
        "address or a sign-in. null while the order is not paid, and once it is cancelled or refunded in full."
    )
    name: str = Field(description="The file's name.")
    left: int | None = Field(description="How often it can still be downloaded; null: without a limit.")
    expires_at: Timestamp | None = Field(
        description="Until when it can be downloaded; null: without a limit, or not paid yet."
    )


class OrderLineRecord(Schema):
    """A line of an order, as it was sold."""

    id: int = Field(description="The line's id.")
    product_id: int | None = Field(description="The product's id; null if the product was deleted.")
    variant_id: int | None = Field(description="The variant's id, if any.")
    sku: str = Field(description="The SKU; may be empty.")
    name: str = Field(description="The name of the product.")
    image: str | None = Field(description="URL of the picture.")
    qty: int = Field(description="Quantity sold.")
    fulfilled_qty: int = Field(description="Quantity fulfilled.")
    unit_price: Money = Field(description="The unit price.")
    line_total: Money = Field(description="What the line comes to.")
    tax: Money = Field(description="The line's share of the tax.")
    is_digital: bool = Field(description="Whether the product is digital.")
    is_bundle: bool = Field(description="Whether the product is a bundle.")
    is_damaged: bool = Field(description="Whether damaged units were sold.")
    requires_shipping: bool = Field(description="Whether the product is shipped.")
    bundle_items: list[LineBundleItem] = Field(description="The items of a bundle; empty for other products.")
    options: list[ChosenOption] = Field(description="The chosen options.")
    custom_fields: list[LineCustomField] = Field(description="Custom texts for this line.")
    downloads: list[DownloadRecord] = Field(description="Files that the line was sold with.")

"""The lines of an order in the API."""

from typing import Literal

from ninja import Field, Schema

from storefront.carts.gift_card_schemas import LineGiftCard
from storefront.carts.schemas import LineBundleItem, LineCustomField, LineOption
from storefront.kit.api.schemas import Money, Timestamp


class TaxLine(Schema):
    """A tax by its rate."""

    name: str = Field(description="The tax's name.", examples=["VAT"])
    percent: str = Field(
        description="The rate; 0 where there is no tax for the reason in `treatment`.", examples=["19"]
    )
    base: Money | None = Field(
        description="What it is charged on, without tax; null in orders from before that was kept."
    )
    amount: Money = Field(description="The tax amount.")
    treatment: Literal["taxed", "reverse_charge", "export"] = Field(
        description="`taxed`; `reverse_charge`: a business in another EU country owes the tax itself; `export`: it "
        "left the EU free of tax."
    )


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
    left_qty: int = Field(description="Quantity that is neither fulfilled nor refunded before it was sent, nor closed.")
    refunded_qty: int = Field(description="Quantity that was refunded by line.")
    unit_price: Money = Field(description="The unit price.")
    line_total: Money = Field(description="What the line comes to, before discounts.")
    discount: Money = Field(description="The line's share of the order's discount.")
    tax: Money = Field(description="The line's share of the tax.")
    tax_lines: list[TaxLine] = Field(description="The line's taxes by rate; empty if it has none.")
    is_digital: bool = Field(description="Whether the product is digital.")
    is_bundle: bool = Field(description="Whether the product is a bundle.")
    is_damaged: bool = Field(description="Whether damaged units were sold.")
    requires_shipping: bool = Field(description="Whether the product is shipped.")
    bundle_items: list[LineBundleItem] = Field(description="The items of a bundle; empty for other products.")
    options: list[ChosenOption] = Field(description="The chosen options.")
    custom_fields: list[LineCustomField] = Field(description="Custom texts for this line.")
    gift_card: LineGiftCard | None = Field(description="Of a gift card, who gets it and when; null for other products.")
    available_from: Timestamp | None = Field(description="Of a pre-order with a date, when it is sent; else null.")
    downloads: list[DownloadRecord] = Field(description="Files that the line was sold with.")

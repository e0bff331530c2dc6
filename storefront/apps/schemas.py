from typing import Any

from ninja import Field, Schema

from storefront.shops.models import Shop


class ShopRecord(Schema):
    """The shop that the access token belongs to."""

    name: str = Field(description="What the shop is called.", examples=["Corner shop"])
    email: str | None = Field(description="Where shoppers can write to.")
    domain: str = Field(description="The host name that shoppers use.", examples=["shop.example.com"])
    currency: str = Field(description="ISO 4217 code.", examples=["EUR"])
    timezone: str = Field(description="Time zone name.", examples=["Europe/Berlin"])


class ShopRead(Schema):
    shop: ShopRecord = Field(description="Whose data the token opens.")


def shop_record(shop: Shop) -> dict[str, Any]:
    return {field: getattr(shop, field) for field in ShopRecord.model_fields}

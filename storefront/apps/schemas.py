from ninja import Field, Schema

from storefront.kit.api.records import writer


class ShopRecord(Schema):
    """The shop that the access token belongs to."""

    name: str = Field(description="The shop's name.", examples=["Corner shop"])
    email: str | None = Field(description="The shop's contact email address.")
    domain: str = Field(description="The shop's host name.", examples=["shop.example.com"])
    currency: str = Field(description="ISO 4217 code.", examples=["EUR"])
    timezone: str = Field(description="Time zone name.", examples=["Europe/Berlin"])


class ShopRead(Schema):
    shop: ShopRecord = Field(description="The shop that the token belongs to.")


shop_record = writer(ShopRecord)

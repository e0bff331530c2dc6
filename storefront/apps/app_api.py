from django.http import HttpResponse
from ninja import Field, Router, Schema

from storefront.apps.extensions_api import router as extensions
from storefront.apps.scripts_api import router as script_tags
from storefront.kit.api.http import json_response
from storefront.kit.api.records import writer
from storefront.kit.api.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router()
router.add_router("", extensions)
router.add_router("", script_tags)


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


@router.get(
    "/shop",
    auth=app_scope("read_shop"),
    response=answers({200: ShopRead}),
    summary="Get the shop",
    tags=["App: Shop"],
)
def get_shop(request: Request) -> HttpResponse:
    """The shop that the access token belongs to. Call this first, to know whose data you are about to access."""
    return json_response({"shop": shop_record(request.shop)})

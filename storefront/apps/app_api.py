from django.http import HttpResponse
from ninja import Router

from storefront.apps import schemas
from storefront.apps.extensions_api import router as extensions
from storefront.apps.scripts_api import router as script_tags
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router()
router.add_router("", extensions)
router.add_router("", script_tags)


@router.get(
    "/shop",
    auth=app_scope("read_shop"),
    response=answers({200: schemas.ShopRead}),
    summary="Get the shop",
    tags=["App: Shop"],
)
def get_shop(request: Request) -> HttpResponse:
    """The shop that the access token belongs to. Call this first, to know whose data you are about to access."""
    return json_response({"shop": schemas.shop_record(request.shop)})

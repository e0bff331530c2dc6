"""The API put together: one NinjaAPI and every room's router."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from storefront.carts.api import router as carts
from storefront.catalogue.api import router as catalogue
from storefront.checkout.api import router as checkout
from storefront.server import errors
from storefront.server.body import JsonBody
from storefront.server.openapi import DESCRIPTION, Description
from storefront.shops.idempotency import idempotent


class StorefrontApi(NinjaAPI):
    """Ninja's API with our description of it; `server/openapi.py` serves that, and the page that shows it."""

    def get_openapi_schema(self, **_: Any) -> OpenAPISchema:
        return Description(self)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = StorefrontApi(
    title="Storefront",
    version="1",
    description=DESCRIPTION,
    parser=JsonBody(),
    openapi_url=None,
    docs_url=None,
    urls_namespace="api",
)
for kind, render in errors.HANDLERS.items():
    api.add_exception_handler(kind, render)
api.add_decorator(idempotent)
api.add_router("/v1", catalogue)
# Before the cart's own routes: `/cart/checkout` is not the line whose key is "checkout".
api.add_router("/v1", checkout)
api.add_router("/v1", carts)

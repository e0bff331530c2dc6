"""The API put together: one NinjaAPI and every room's router."""

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from storefront.apps.app_api import router as apps
from storefront.audit.api import router as app_audit
from storefront.carts.api import router as carts
from storefront.catalogue.app_api import router as app_products
from storefront.catalogue.inventory.api import app_router as app_inventory
from storefront.catalogue.inventory.api import router as inventory
from storefront.checkout.api import router as checkout
from storefront.customers.api import app_router as app_customers
from storefront.customers.api import router as customers
from storefront.documents.api import app_router as app_documents
from storefront.documents.api import router as documents
from storefront.exports.api import router as exports
from storefront.listing.api import router as catalogue
from storefront.orders.api import app_router as app_orders
from storefront.orders.api import router as orders
from storefront.payments.api import app_router as app_payments
from storefront.payments.api import router as payments
from storefront.server.api import errors
from storefront.server.api.body import JsonBody
from storefront.server.api.openapi import DESCRIPTION, Description
from storefront.server.api.versions import VERSION
from storefront.shops.idempotency import idempotent
from storefront.webhooks.app_api import router as app_webhooks


class StorefrontApi(NinjaAPI):
    """Ninja's API that describes itself by `openapi.py`. `docs.py` serves the description."""

    def get_openapi_schema(self, **_: Any) -> OpenAPISchema:
        return Description(self)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = StorefrontApi(
    title="Storefront",
    version=VERSION,
    description=DESCRIPTION,
    parser=JsonBody(),
    openapi_url=None,
    docs_url=None,
    urls_namespace="api",
)
for kind, render in errors.HANDLERS.items():
    api.add_exception_handler(kind, render)
api.add_decorator(idempotent)
# The public API has its version in the path; the App API has none (R-CALL-15).
api.add_router("/v1", catalogue)
# Before the cart's routes, which would take `/cart/checkout` for the line with the key "checkout".
api.add_router("/v1", checkout)
api.add_router("/v1", carts)
api.add_router("/v1", customers)
api.add_router("/v1", inventory)
api.add_router("/v1", orders)
api.add_router("/v1", payments)
api.add_router("/v1", documents)
api.add_router("/v1", exports)
# The App API: every room that apps may use adds its own.
api.add_router("/apps", apps)
api.add_router("/apps", app_customers)
api.add_router("/apps", app_products)
api.add_router("/apps", app_inventory)
api.add_router("/apps", app_orders)
api.add_router("/apps", app_payments)
api.add_router("/apps", app_documents)
api.add_router("/apps", app_webhooks)
api.add_router("/apps", app_audit)

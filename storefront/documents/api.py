from typing import Any

from ninja import Router

from storefront.documents import schemas
from storefront.orders.api import OrderId, order_or_404
from storefront.orders.both_apis import on_both
from storefront.shops.request import Request

router, app_router = Router(tags=["Orders"]), Router(tags=["App: Orders"])


@on_both(
    (router, app_router),
    "GET",
    "/orders/{order_id}/documents",
    right="read_orders",
    response=schemas.Documents,
    member="documents",
    errors=(404,),
    summary="List an order's documents",
    status=200,
)
def list_documents(request: Request, order_id: OrderId) -> list[dict[str, Any]]:
    """The order's invoices, credit notes and packing slip, each with a link to its PDF. An invoice is issued within
    seconds after the payment, in shops that issue invoices."""
    return schemas.document_records(request.shop, order_or_404(request, order_id), request.now)

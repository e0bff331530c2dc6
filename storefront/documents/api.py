from django.http import HttpResponse
from ninja import Router

from storefront.documents import schemas
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.orders.api import OrderId, order_or_404
from storefront.shops.auth import app_scope, scope
from storefront.shops.request import Request

router, app_router = Router(tags=["Orders"]), Router(tags=["App: Orders"])


@router.get(
    "/orders/{order_id}/documents",
    auth=scope("read_orders"),
    response=answers({200: schemas.Documents}, 404),
    summary="List an order's documents",
)
def list_documents(request: Request, order_id: OrderId) -> HttpResponse:
    """The order's invoices, credit notes and packing slip, each with a link to its PDF. An invoice is issued within
    seconds after the payment, in shops that issue invoices."""
    order = order_or_404(request, order_id)
    return json_response({"data": schemas.document_records(request.shop, order, request.now)})


@app_router.get(
    "/orders/{order_id}/documents",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.DocumentsOfApp}, 404),
    summary="List an order's documents",
)
def list_documents_for_app(request: Request, order_id: OrderId) -> HttpResponse:
    """The order's invoices, credit notes and packing slip, each with a link to its PDF. An invoice is issued within
    seconds after the payment, in shops that issue invoices."""
    order = order_or_404(request, order_id)
    return json_response({"documents": schemas.document_records(request.shop, order, request.now)})

"""The payments of `api.py` in the App API (R-APP-30)."""

from django.http import HttpResponse
from ninja import Router

from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.orders import schemas
from storefront.orders.api import OrderId
from storefront.orders.refund_schemas import RefundGiven
from storefront.payments import api
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App: Orders"])


@router.post(
    "/orders/{order_id}/cancellation",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.ChangedOrderOfApp}, 400, 404, 409, 413, 415, 422),
    summary="Cancel an order",
)
def cancel_order_for_app(
    request: Request, order_id: OrderId, body: schemas.CancellationGiven | None = None
) -> HttpResponse:
    """Cancel an open order that has no fulfilments. Payments are not refunded automatically."""
    return json_response({"order": api.cancel(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/refunds",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.NewRefundOfApp}, 400, 404, 409, 413, 415, 422),
    summary="Refund an order",
)
def refund_order_for_app(request: Request, order_id: OrderId, body: RefundGiven | None = None) -> HttpResponse:
    """Refund money through the gateway that took the payment. The response does not wait for the gateway: the event
    `order.refunded` and the order show the result."""
    return json_response({"refund": api.refund(request, order_id, body)}, status=201)

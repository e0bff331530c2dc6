from typing import Any

from django.http import HttpResponse
from ninja import Router

from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.orders import queries, schemas
from storefront.orders.api import OrderId, given_members, order_or_404
from storefront.orders.refund_schemas import RefundGiven
from storefront.payments import actions
from storefront.payments.line_refunds import Pieces
from storefront.payments.refunds import request_refund
from storefront.shops.auth import scope
from storefront.shops.request import Request, record_or_id

router = Router(tags=["Orders"])


@router.post(
    "/orders/{order_id}/cancellation",
    auth=scope("write_orders"),
    response=answers({201: schemas.ChangedOrder}, 400, 404, 409, 413, 415, 422),
    summary="Cancel an order",
)
def cancel_order(request: Request, order_id: OrderId, body: schemas.CancellationGiven | None = None) -> HttpResponse:
    """Cancel an open order that has no fulfilments. Payments are not refunded automatically."""
    return json_response({"data": cancel(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/refunds",
    auth=scope("write_orders"),
    response=answers({201: schemas.NewRefund}, 400, 404, 409, 413, 415, 422),
    summary="Refund an order",
)
def refund_order(request: Request, order_id: OrderId, body: RefundGiven | None = None) -> HttpResponse:
    """Refund money through the gateway that took the payment. The response does not wait for the gateway: the event
    `order.refunded` and the order show the result."""
    return json_response({"data": refund(request, order_id, body)}, status=201)


def cancel(request: Request, order_id: str, body: schemas.CancellationGiven | None) -> dict[str, Any]:
    order = order_or_404(request, order_id)
    order = actions.cancel_order(shop=request.shop, order=order, now=request.now, **given_members(body))
    return record_or_id(request, queries.order_record(order), reading="read_orders")


def refund(request: Request, order_id: str, body: RefundGiven | None) -> dict[str, Any]:
    order, given = order_or_404(request, order_id), given_members(body)
    chosen = [
        Pieces(**line | {"restock": given["restock"] if line["restock"] is None else line["restock"]})
        for line in given.pop("lines", None) or []
    ]
    made = request_refund(shop=request.shop, order=order, lines=chosen, now=request.now, **given)
    return record_or_id(request, queries.refund_record(made), reading="read_orders")

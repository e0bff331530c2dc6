"""The same resource in the App API's form (decisions: Shop data endpoints)."""

from django.http import HttpResponse
from ninja import Query, Router

from storefront.kit.app_pagination import pagination
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.orders import api, schemas
from storefront.orders.api import OrderId
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App"])


@router.get(
    "/orders",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.OrdersOfApp}, 422),
    summary="List orders",
)
def list_orders_for_app(request: Request, asked: Query[schemas.OrderQuery]) -> HttpResponse:
    """One page of the shop's orders, newest first."""
    records, total = api.page(request, asked)
    where = pagination(total=total, **api.place(request, asked, "/api/apps/orders"))
    return json_response({"orders": records, "pagination": where})


@router.get(
    "/orders/{order_id}",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.OrderOfApp}, 404),
    summary="Read one order",
)
def read_order_for_app(request: Request, order_id: OrderId) -> HttpResponse:
    """One order with its lines, addresses, payments, fulfilments and refunds."""
    return json_response({"order": api.read(request, order_id)})


@router.patch(
    "/orders/{order_id}",
    auth=app_scope("write_orders"),
    response=answers({200: schemas.ChangedOrderOfApp}, 400, 404, 413, 415, 422),
    summary="Change an order's note and tags",
)
def change_order_for_app(request: Request, order_id: OrderId, body: schemas.OrderChange) -> HttpResponse:
    """Change the members that are sent. Nothing else of an order can be changed: it is what was sold."""
    return json_response({"order": api.change(request, order_id, body)})


@router.post(
    "/orders/{order_id}/fulfilments",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.NewFulfilmentOfApp}, 400, 404, 409, 413, 415, 422),
    summary="Fulfil an order",
)
def fulfil_for_app(request: Request, order_id: OrderId, body: schemas.FulfilmentGiven | None = None) -> HttpResponse:
    """Tell that pieces of an open order have been handed over. The shopper gets a mail."""
    return json_response({"fulfilment": api.hand_over(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/cancellation",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.ChangedOrderOfApp}, 400, 404, 409, 413, 415, 422),
    summary="Cancel an order",
)
def cancel_for_app(request: Request, order_id: OrderId, body: schemas.CancellationGiven | None = None) -> HttpResponse:
    """End an open order of which nothing has been handed over. What was paid stays paid until it is refunded."""
    return json_response({"order": api.call_off(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/refunds",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.NewRefundOfApp}, 400, 404, 409, 413, 415, 422),
    summary="Refund an order",
)
def refund_for_app(request: Request, order_id: OrderId, body: schemas.RefundGiven | None = None) -> HttpResponse:
    """Give money back through the gateway that took it. The answer does not wait for that: `order.refunded` tells of
    it, and so does the order."""
    return json_response({"refund": api.give_back(request, order_id, body)}, status=201)

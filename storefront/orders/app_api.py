"""The orders of `api.py` in the App API (R-APP-30)."""

from django.http import HttpResponse
from ninja import Query, Router

from storefront.kit.app_pagination import pagination
from storefront.kit.conditional import record_response
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.orders import api, schemas
from storefront.orders.api import FulfilmentId, OrderId
from storefront.orders.copying import Orders
from storefront.shops.auth import app_scope
from storefront.shops.request import Request
from storefront.sync.answers import answer_run, deleted_of_app

router = Router(tags=["App: Orders"])


@router.get(
    "/orders",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.OrdersOfApp | schemas.OrderRunOfApp}, 422),
    summary="List orders",
)
def list_orders_for_app(request: Request, asked: Query[schemas.OrderQuery]) -> HttpResponse:
    """One page of the shop's orders, newest first; with `after`, the next part of a copy of the list."""
    source = Orders(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked, "orders")
    records, total = api.list_records(request, asked)
    deleted, deleted_total = deleted_of_app(source, asked, now=request.now)
    position = api.page_position(request, asked, "/api/apps/orders")
    where = pagination(total=total, **position, deleted_total=deleted_total)
    return json_response({"orders": records, "pagination": where} | deleted)


@router.get(
    "/orders/{order_id}",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.OrderOfApp, 304: None}, 404, 422),
    summary="Get an order",
)
def get_order_for_app(request: Request, order_id: OrderId, asked: Query[schemas.SingleOrderQuery]) -> HttpResponse:
    """One order with its lines, addresses, payments, fulfilments and refunds."""
    return record_response(request, {"order": api.read_record(request, order_id, asked.fields)})


@router.patch(
    "/orders/{order_id}",
    auth=app_scope("write_orders"),
    response=answers({200: schemas.ChangedOrderOfApp}, 400, 404, 412, 413, 415, 422),
    summary="Update an order",
)
def update_order_for_app(request: Request, order_id: OrderId, body: schemas.OrderChange) -> HttpResponse:
    """Update the order's note, tags, reference or metadata. Nothing else of an order can be changed."""
    return api.update_record(request, order_id, body, member="order")


@router.post(
    "/orders/{order_id}/fulfilments",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.NewFulfilmentOfApp}, 400, 404, 409, 413, 415, 422),
    summary="Fulfil an order",
)
def fulfil_order_for_app(
    request: Request, order_id: OrderId, body: schemas.FulfilmentGiven | None = None
) -> HttpResponse:
    """Mark items of an open order as fulfilled. The shopper gets an email."""
    return json_response({"fulfilment": api.fulfil(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/fulfilments/{fulfilment_id}/cancellation",
    auth=app_scope("write_orders"),
    response=answers({201: schemas.NewFulfilmentOfApp}, 404, 409, 422),
    summary="Cancel a fulfilment",
)
def cancel_fulfilment_for_app(request: Request, order_id: OrderId, fulfilment_id: FulfilmentId) -> HttpResponse:
    """Take back a fulfilment that did not happen. Its items are left to fulfil again. The shopper gets no email."""
    return json_response({"fulfilment": api.cancel_one_fulfilment(request, order_id, fulfilment_id)}, status=201)

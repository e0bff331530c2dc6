from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query, Router, Schema

from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.pagination import page_response
from storefront.kit.refusals import NotFound
from storefront.kit.schemas import answers
from storefront.orders import actions, queries, schemas
from storefront.orders.fulfilling import Tracking, fulfil_order
from storefront.orders.models import Order
from storefront.orders.refunds import request_refund
from storefront.shops.auth import scope
from storefront.shops.request import Request

router = Router(tags=["Orders"])

KEPT = ("status", "placed_since", "per_page")

OrderId = Annotated[str, Path(description="The order's id.", examples=["12"])]


@router.get(
    "/orders",
    auth=scope("read_orders"),
    response=answers({200: schemas.OrderPage}, 422),
    summary="List orders",
)
def list_orders(request: Request, asked: Query[schemas.OrderQuery]) -> HttpResponse:
    """One page of the shop's orders, newest first."""
    records, total = page(request, asked)
    return page_response(records, total=total, **place(request, asked, "/api/v1/orders"))


@router.get(
    "/orders/{order_id}",
    auth=scope("read_orders"),
    response=answers({200: schemas.OneOrder}, 404),
    summary="Read one order",
)
def read_order(request: Request, order_id: OrderId) -> HttpResponse:
    """One order with its lines, addresses, payments, fulfilments and refunds."""
    return json_response({"data": read(request, order_id)})


@router.patch(
    "/orders/{order_id}",
    auth=scope("write_orders"),
    response=answers({200: schemas.ChangedOrder}, 400, 404, 413, 415, 422),
    summary="Change an order's note and tags",
)
def change_order(request: Request, order_id: OrderId, body: schemas.OrderChange) -> HttpResponse:
    """Change the members that are sent. Nothing else of an order can be changed: it is what was sold."""
    return json_response({"data": change(request, order_id, body)})


@router.post(
    "/orders/{order_id}/fulfilments",
    auth=scope("write_orders"),
    response=answers({201: schemas.NewFulfilment}, 400, 404, 409, 413, 415, 422),
    summary="Fulfil an order",
)
def fulfil(request: Request, order_id: OrderId, body: schemas.FulfilmentGiven | None = None) -> HttpResponse:
    """Tell that pieces of an open order have been handed over. The shopper gets a mail."""
    return json_response({"data": hand_over(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/cancellation",
    auth=scope("write_orders"),
    response=answers({201: schemas.ChangedOrder}, 400, 404, 409, 413, 415, 422),
    summary="Cancel an order",
)
def cancel(request: Request, order_id: OrderId, body: schemas.CancellationGiven | None = None) -> HttpResponse:
    """End an open order of which nothing has been handed over. What was paid stays paid until it is refunded."""
    return json_response({"data": call_off(request, order_id, body)}, status=201)


@router.post(
    "/orders/{order_id}/refunds",
    auth=scope("write_orders"),
    response=answers({201: schemas.NewRefund}, 400, 404, 409, 413, 415, 422),
    summary="Refund an order",
)
def refund(request: Request, order_id: OrderId, body: schemas.RefundGiven | None = None) -> HttpResponse:
    """Give money back through the gateway that took it. The answer does not wait for that: `order.refunded` tells of
    it, and so does the order."""
    return json_response({"data": give_back(request, order_id, body)}, status=201)


def page(request: Request, asked: schemas.OrderQuery) -> tuple[list[dict[str, Any]], int]:
    return queries.order_page(
        request.shop, status=asked.status, placed_since=asked.placed_since, start=asked.start, count=asked.per_page
    )


def place(request: Request, asked: schemas.OrderQuery, path: str) -> dict[str, Any]:
    """Where a page stands, as both forms of the list need it."""
    given = [(name, request.GET[name]) for name in KEPT if name in request.GET]
    return {"page": asked.page, "per_page": asked.per_page, "path": request.shop.base_url + path, "given": given}


def read(request: Request, order_id: str) -> dict[str, Any]:
    return queries.order_record(_order(request, order_id))


def change(request: Request, order_id: str, body: schemas.OrderChange) -> dict[str, Any]:
    changes = body.model_dump(exclude_unset=True)
    order = actions.annotate_order(shop=request.shop, order=_order(request, order_id), changes=changes, now=request.now)
    return request.caller.told(queries.order_record(order), reading="read_orders")


def hand_over(request: Request, order_id: str, body: schemas.FulfilmentGiven | None) -> dict[str, Any]:
    given = _given(body)
    lines = given.pop("lines", None)
    fulfilment = fulfil_order(
        shop=request.shop,
        order=_order(request, order_id),
        pieces=None if lines is None else [(line["line_id"], line["qty"]) for line in lines],
        tracking=Tracking(**given),
        now=request.now,
    )
    return request.caller.told(queries.fulfilment_record(fulfilment), reading="read_orders")


def call_off(request: Request, order_id: str, body: schemas.CancellationGiven | None) -> dict[str, Any]:
    order = _order(request, order_id)
    order = actions.cancel_order(shop=request.shop, order=order, now=request.now, **_given(body))
    return request.caller.told(queries.order_record(order), reading="read_orders")


def give_back(request: Request, order_id: str, body: schemas.RefundGiven | None) -> dict[str, Any]:
    order = _order(request, order_id)
    made = request_refund(shop=request.shop, order=order, now=request.now, **_given(body))
    return request.caller.told(queries.refund_record(made), reading="read_orders")


def _given(body: Schema | None) -> dict[str, Any]:
    """What was sent; these calls mean something without a body too."""
    return body.model_dump() if body else {}


def _order(request: Request, order_id: str) -> Order:
    order = queries.order_by_id(request.shop, as_id(order_id))
    if order is None:
        raise NotFound
    return order

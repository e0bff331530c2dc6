"""Orders in `/api/v1` and, for apps, in the App API (R-APP-30)."""

from collections.abc import Collection
from functools import partial
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query, Router, Schema

from storefront.kit.api.app_pagination import pagination
from storefront.kit.api.conditional import only_if_match, record_response
from storefront.kit.api.http import json_response
from storefront.kit.api.pagination import page_response
from storefront.kit.api.schemas import PathId, answers
from storefront.kit.ids import as_id
from storefront.kit.refusals import InvalidFields, NotFound, Problem, problem
from storefront.orders import actions, fulfilling, queries, schemas
from storefront.orders.both_apis import of_app, on_both
from storefront.orders.copying import Orders
from storefront.orders.models import Order
from storefront.shops.auth import app_scope, scope
from storefront.shops.replica_reads import from_replica
from storefront.shops.request import Request, record_or_id, written_response
from storefront.sync.answers import answer_run, deleted_beside, deleted_of_app

router, app_router = Router(tags=["Orders"]), Router(tags=["App: Orders"])

FILTERS = ("status", "placed_since", "email", "client_reference", "cart", "updated_since", "ids")
PAGE_PARAMETERS = (*FILTERS, "fields", "include", "per_page")

# The operations that change these members of an order, by the last part of their path.
COMMANDS = {"status": ("fulfilments", "cancellation"), "payment_status": ("refunds",)}

FulfilmentId = Annotated[PathId, Path(description="The fulfilment's id.", examples=[3])]
OrderId = Annotated[PathId, Path(description="The order's id.", examples=[12])]

_post = partial(
    on_both,
    (router, app_router),
    "POST",
    right="write_orders",
    response=schemas.NewFulfilment,
    member="fulfilment",
)


@router.get(
    "/orders",
    auth=scope("read_orders"),
    response=answers({200: schemas.OrderPage | schemas.OrderRun}, 422),
    summary="List orders",
)
@from_replica
def list_orders(request: Request, asked: Query[schemas.OrderQuery]) -> HttpResponse:
    """One page of the shop's orders, newest first; with `after`, the next part of a copy of the list."""
    source = Orders(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked)
    records, total = list_records(request, asked)
    where = page_position(request, asked, "/api/v1/orders") | deleted_beside(source, asked, now=request.now)
    return page_response(records, total=total, **where)


@router.get(
    "/orders/{order_id}",
    auth=scope("read_orders"),
    response=answers({200: schemas.OneOrder, 304: None}, 404, 422),
    summary="Get an order",
)
@from_replica
def get_order(request: Request, order_id: OrderId, asked: Query[schemas.SingleOrderQuery]) -> HttpResponse:
    """An order with its lines, addresses, payments, fulfilments and refunds."""
    return record_response(request, {"data": read_record(request, order_id, asked.fields)})


@app_router.get(
    "/orders",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.OrdersOfApp | schemas.OrderRunOfApp}, 422),
    summary="List orders",
)
@from_replica
def list_orders_for_app(request: Request, asked: Query[schemas.OrderQuery]) -> HttpResponse:
    """One page of the shop's orders, newest first; with `after`, the next part of a copy of the list."""
    source = Orders(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked, "orders")
    records, total = list_records(request, asked)
    deleted, deleted_total = deleted_of_app(source, asked, now=request.now)
    where = pagination(total=total, **page_position(request, asked, "/api/apps/orders"), deleted_total=deleted_total)
    return json_response({"orders": records, "pagination": where} | deleted)


@app_router.get(
    "/orders/{order_id}",
    auth=app_scope("read_orders"),
    response=answers({200: schemas.OrderOfApp, 304: None}, 404, 422),
    summary="Get an order",
)
@from_replica
def get_order_for_app(request: Request, order_id: OrderId, asked: Query[schemas.SingleOrderQuery]) -> HttpResponse:
    """One order with its lines, addresses, payments, fulfilments and refunds."""
    return record_response(request, {"order": read_record(request, order_id, asked.fields)})


@router.patch(
    "/orders/{order_id}",
    auth=scope("write_orders"),
    response=answers({200: schemas.ChangedOrder}, 400, 404, 412, 413, 415, 422),
    summary="Update an order",
)
def update_order(request: Request, order_id: OrderId, body: schemas.OrderChange) -> HttpResponse:
    """Update the order's note, tags, reference or metadata. Nothing else of an order can be changed."""
    return update_record(request, order_id, body, member="data")


@app_router.patch(
    "/orders/{order_id}",
    auth=app_scope("write_orders"),
    response=answers({200: of_app(schemas.ChangedOrder, "order")}, 400, 404, 412, 413, 415, 422),
    summary="Update an order",
)
def update_order_for_app(request: Request, order_id: OrderId, body: schemas.OrderChange) -> HttpResponse:
    """Update the order's note, tags, reference or metadata. Nothing else of an order can be changed."""
    return update_record(request, order_id, body, member="order")


@_post(
    "/orders/{order_id}/fulfilments",
    errors=(400, 404, 409, 413, 415, 422),
    summary="Fulfil an order",
)
def fulfil_order(request: Request, order_id: OrderId, body: schemas.FulfilmentGiven | None = None) -> dict[str, Any]:
    """Mark items of an open order as fulfilled. The shopper gets an email."""
    given = given_members(body)
    lines = given.pop("lines", None)
    fulfilment = fulfilling.fulfil_order(
        shop=request.shop,
        order=order_or_404(request, order_id),
        pieces=None if lines is None else [(line["line_id"], line["qty"]) for line in lines],
        tracking=fulfilling.Tracking(**given),
        now=request.now,
    )
    return record_or_id(request, queries.fulfilment_record(fulfilment), reading="read_orders")


@_post(
    "/orders/{order_id}/fulfilments/{fulfilment_id}/cancellation", errors=(404, 409, 422), summary="Cancel a fulfilment"
)
def cancel_fulfilment(request: Request, order_id: OrderId, fulfilment_id: FulfilmentId) -> dict[str, Any]:
    """Take back a fulfilment that did not happen. Its items are left to fulfil again. The shopper gets no email."""
    order, known = order_or_404(request, order_id), as_id(fulfilment_id)
    if known is None or not order.fulfilments.filter(pk=known).exists():
        raise NotFound
    fulfilment = fulfilling.cancel_fulfilment(shop=request.shop, order=order, fulfilment_id=known, now=request.now)
    return record_or_id(request, queries.fulfilment_record(fulfilment), reading="read_orders")


def list_records(request: Request, asked: schemas.OrderQuery) -> tuple[list[dict[str, Any]], int]:
    wanted = queries.OrderFilter(**asked.model_dump(include=set(FILTERS)))
    return queries.order_page(
        request.shop, wanted=wanted, members=asked.members, start=asked.start, count=asked.per_page
    )


def page_position(request: Request, asked: schemas.OrderQuery, path: str) -> dict[str, Any]:
    """The position of a page in the list, as arguments of `page_response` and `pagination`."""
    given = [(name, request.GET[name]) for name in PAGE_PARAMETERS if name in request.GET]
    return {"page": asked.page, "per_page": asked.per_page, "path": request.shop.base_url + path, "given": given}


def read_record(request: Request, order_id: str, fields: Collection[str] | None = None) -> dict[str, Any]:
    return queries.order_record(order_or_404(request, order_id), fields)


def update_record(request: Request, order_id: str, body: schemas.OrderChange, *, member: str) -> HttpResponse:
    """The response to a PATCH. Members that read like a command are refused, since ignoring them would look like
    success (R-CALL-32)."""
    commands = [name for name in COMMANDS if name in request.given]
    if commands:
        raise InvalidFields(problems=[_use_endpoint(name, request.path_info) for name in commands])
    order, changes = order_or_404(request, order_id), body.model_dump(exclude_unset=True)
    row = Order.objects.filter(shop=request.shop, pk=order.pk)
    with only_if_match(request, lambda: {member: read_record(request, order_id)}, row):
        order = actions.annotate_order(shop=request.shop, order=order, changes=changes, now=request.now)
    return written_response(request, member, queries.order_record(order), reading="read_orders")


def _use_endpoint(name: str, path: str) -> Problem:
    endpoints = [f"POST {path}/{part}" for part in COMMANDS[name]]
    return problem(name, "use_endpoint", f"{name} cannot be set. Use {' or '.join(endpoints)}.", endpoint=endpoints)


def given_members(body: Schema | None) -> dict[str, Any]:
    """The members of an optional body."""
    return body.model_dump() if body else {}


def order_or_404(request: Request, order_id: str) -> Order:
    order = queries.order_by_id(request.shop, as_id(order_id))
    if order is None:
        raise NotFound
    return order

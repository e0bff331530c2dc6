from functools import partial
from typing import Any

from ninja import Router

from storefront.orders import queries, schemas
from storefront.orders.api import OrderId, given_members, order_or_404
from storefront.orders.both_apis import on_both
from storefront.orders.refund_schemas import RefundGiven
from storefront.payments import actions
from storefront.payments.line_refunds import Pieces
from storefront.payments.refunds import request_refund
from storefront.shops.request import Request, record_or_id

router, app_router = Router(tags=["Orders"]), Router(tags=["App: Orders"])
_post = partial(on_both, (router, app_router), "POST", right="write_orders", errors=(400, 404, 409, 413, 415, 422))


@_post(
    "/orders/{order_id}/cancellation",
    response=schemas.ChangedOrder,
    member="order",
    summary="Cancel an order",
)
def cancel_order(request: Request, order_id: OrderId, body: schemas.CancellationGiven | None = None) -> dict[str, Any]:
    """Cancel an open order that has no fulfilments. Payments are not refunded automatically."""
    order = order_or_404(request, order_id)
    order = actions.cancel_order(shop=request.shop, order=order, now=request.now, **given_members(body))
    return record_or_id(request, queries.order_record(order), reading="read_orders")


@_post("/orders/{order_id}/refunds", response=schemas.NewRefund, member="refund", summary="Refund an order")
def refund_order(request: Request, order_id: OrderId, body: RefundGiven | None = None) -> dict[str, Any]:
    """Refund money through the gateway that took the payment. The response does not wait for the gateway: the event
    `order.refunded` and the order show the result."""
    order, given = order_or_404(request, order_id), given_members(body)
    chosen = [
        Pieces(**line | {"restock": given["restock"] if line["restock"] is None else line["restock"]})
        for line in given.pop("lines", None) or []
    ]
    made = request_refund(shop=request.shop, order=order, lines=chosen, now=request.now, **given)
    return record_or_id(request, queries.refund_record(made), reading="read_orders")

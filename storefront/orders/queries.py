from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Value, prefetch_related_objects
from django.db.models.functions import Lower

from storefront.carts.gift_card_schemas import gift_card_record
from storefront.kit.api.members import only
from storefront.kit.api.records import writer
from storefront.kit.clock import timestamp
from storefront.kit.money import to_wire
from storefront.orders import schemas
from storefront.orders.download_links import download_url, is_paid, is_refunded, is_withdrawn
from storefront.orders.line_schemas import OrderLineRecord
from storefront.orders.models import Download, Fulfilment, Order
from storefront.orders.refund_schemas import RefundedLine
from storefront.pricing.taxes import TAXED
from storefront.shops.models import Shop

# How the members of `OrderFilter` are compared.
_LOOKUPS = {
    "status": "status",
    "placed_since": "placed_at__gte",
    "updated_since": "updated_at__gte",
    "client_reference": "client_reference",
    "cart": "checkout_link",
    "ids": "pk__in",
}


def order_by_public_id(shop: Shop, public_id: UUID) -> Order | None:
    """The order with this unguessable id, with lines, payments and fulfilments."""
    orders = Order.objects.filter(shop=shop, public_id=public_id)
    return orders.prefetch_related(*shown_to_shoppers()).first()


def shown_to_shoppers() -> list[Any]:
    """The rows to fetch for an order's page: lines, payments, and fulfilments that were not cancelled."""
    sent = Fulfilment.objects.filter(cancelled_at=None).prefetch_related("lines__line")
    return ["lines__downloads__file", "payments", Prefetch("fulfilments", queryset=sent)]


def order_by_id(shop: Shop, order_id: int | None) -> Order | None:
    if order_id is None:
        return None
    return Order.objects.filter(shop=shop, pk=order_id).first()


@dataclass(frozen=True, slots=True)
class OrderFilter:
    """Filters for a list of orders; None does not restrict. `cart` is the public id of a checkout link, `email` is
    compared without regard to case."""

    status: str | None = None
    placed_since: datetime | None = None
    email: str | None = None
    client_reference: str | None = None
    cart: UUID | None = None
    updated_since: datetime | None = None
    ids: Collection[int] | None = None


def order_page(
    shop: Shop, *, wanted: OrderFilter, start: int, count: int, members: frozenset[str] | None = None
) -> tuple[list[dict[str, Any]], int]:
    """`count` orders from position `start`, newest first, without their children (R-APP-33, R-LINK-24) or with these
    members; and the total number of orders."""
    found = Order.objects.filter(shop=shop)
    for name, lookup in _LOOKUPS.items():
        if (value := getattr(wanted, name)) is not None:
            found = found.filter(**{lookup: value})
    if wanted.email is not None:
        found = found.alias(address=Lower("email")).filter(address=Lower(Value(wanted.email.strip())))
    # Select ids first: rows before a deep page are skipped in the index, and only the page's rows are read.
    page = list(found.order_by("-placed_at", "-id").values_list("pk", flat=True)[start : start + count])
    return list(order_records(shop, page, members).values()), found.count()


def order_records(shop: Shop, ids: Collection[int], members: frozenset[str] | None = None) -> dict[int, dict[str, Any]]:
    """The shop's orders among these ids, newest first: records by id, without children or with these members."""
    rows = Order.objects.filter(shop=shop, pk__in=list(ids)).order_by("-placed_at", "-id")
    if members is None:
        return {order.pk: order_summary(order) for order in rows}
    orders = list(rows.prefetch_related(*_children(members)))
    for order in orders:
        order.shop = shop
    return {order.pk: only(_whole_record(order, members), members) for order in orders}


def order_record(order: Order, members: Collection[str] | None = None) -> dict[str, Any]:
    """The order for the API and events, with addresses and all children, or with these members alone. Money is
    strings."""
    prefetch_related_objects([order], *_children(schemas.INCLUDED if members is None else members))
    return only(_whole_record(order, schemas.INCLUDED if members is None else members), members)


def _children(members: Collection[str]) -> list[str]:
    """The rows to fetch for these members."""
    return [rows for name, (rows, _) in _CHILDREN.items() if name in members]


def _whole_record(order: Order, included: Collection[str]) -> dict[str, Any]:
    addresses = {"shipping_address": order.shipping_address, "billing_address": order.billing_address}
    children = {
        name: [record(row) for row in getattr(order, name).all()]
        for name, (_, record) in _CHILDREN.items()
        if name in included
    }
    return order_summary(order) | addresses | children


def tax_record(line: dict[str, str]) -> dict[str, str | None]:
    """A tax line for the API. PostgreSQL's jsonb does not keep the order of keys."""
    kept = {"base": None, "treatment": TAXED} | line
    return {name: kept[name] for name in ("name", "percent", "base", "amount", "treatment")}


def download_record(download: Download, order: Order) -> dict[str, Any]:
    """A file that the line was sold with. An expired one has a URL, too, since expiry depends on the reader's clock
    (R-APP-42)."""
    is_open = is_paid(order) and not is_withdrawn(order) and not is_refunded(download.line)
    # The link is in the order's language: without this, each file would look its order up.
    download.order = order
    return {
        "url": download_url(download, order.shop) if is_open else None,
        "name": download.name,
        "left": download.left,
        "expires_at": timestamp(download.expires_at),
    }


def refund_record(refund: Any) -> dict[str, Any]:
    return {
        "id": refund.pk,
        "order_id": refund.order_id,
        "payment_id": refund.payment_id,
        "part_of": refund.part_of_id,
        "origin": "provider" if refund.is_foreign else "shop",
        "status": refund.status,
        "amount": to_wire(refund.amount),
        "currency": refund.currency,
        "shipping": to_wire(refund.shipping),
        "lines": [refund_line_record(line) for line in refund.lines.all()],
        "reason": refund.reason,
        "restocked": refund.restocked,
        "reference": refund.reference,
        "failure": refund.failure,
        "created_at": timestamp(refund.created_at),
        "updated_at": timestamp(refund.updated_at),
    }


# The order as a list shows it.
order_summary = writer(
    schemas.OrderRecord,
    stored=("gift_cards",),
    tax_included=lambda order: order.prices_include_tax,
    tax_lines=lambda order: [tax_record(line) for line in order.tax_lines],
    vat_id=lambda order: order.vat_id or None,
    discount_lines=lambda order: [{"code": None} | line for line in order.discount_lines],
    client_reference=lambda order: order.client_reference or None,
    return_url=lambda order: order.return_url or None,
    cancel_url=lambda order: order.cancel_url or None,
    cart=lambda order: str(order.checkout_link) if order.checkout_link else None,
)
order_line_record = writer(
    OrderLineRecord,
    left_qty=lambda line: line.left,
    tax_lines=lambda line: [tax_record(each) for each in line.tax_lines],
    gift_card=lambda line: line.gift_card and gift_card_record(line.gift_card),
    downloads=lambda line: [download_record(download, line.order) for download in line.downloads.all()],
)
# Payments and refunds are in a higher room (`payments.models`), and are reached by the order's relation.
payment_record = writer(schemas.PaymentRecord)
fulfilment_record = writer(
    schemas.FulfilmentRecord,
    lines=lambda fulfilment: [{"line_id": line.line_id, "qty": line.qty} for line in fulfilment.lines.all()],
)
refund_line_record = writer(RefundedLine)

# Members that only the single read shows unless they are included: the rows to fetch for them, and their records.
_CHILDREN: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    "lines": ("lines__downloads", order_line_record),
    "payments": ("payments", payment_record),
    "fulfilments": ("fulfilments__lines", fulfilment_record),
    "refunds": ("refunds__lines", refund_record),
}

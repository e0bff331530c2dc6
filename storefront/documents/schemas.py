"""Responses of the documents API."""

from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema

from storefront.documents.links import link_end, signed_link
from storefront.documents.queries import documents_of
from storefront.kit.api.schemas import Money, Timestamp
from storefront.kit.clock import timestamp
from storefront.kit.money import to_wire
from storefront.orders.models import Order
from storefront.shops.models import Shop


class DocumentRecord(Schema):
    """A document of an order. Invoices and credit notes never change. The packing slip is made when it is fetched, so
    it has no id, number, amount or time."""

    id: int | None = Field(description="The document's id.")
    kind: Literal["invoice", "credit_note", "packing_slip"] = Field(description="What it is.")
    number: str | None = Field(description="The number, unique in the shop.", examples=["2026-00001"])
    order_id: int = Field(description="The order's id.")
    invoice_id: int | None = Field(description="Of a credit note: the id of the invoice that it credits.")
    fulfilment_id: int | None = Field(
        description="Of a packing slip: the id of the fulfilment whose items it lists; null for what is left to pack."
    )
    refund_id: int | None = Field(description="Of a credit note: the id of its refund, if the shop made it here.")
    amount: Money | None = Field(description="The invoice's total, or what the credit note credits.")
    currency: str = Field(description="ISO 4217 code.")
    issued_at: Timestamp | None = Field(description="When it was issued.")
    url: str = Field(
        description="The PDF. The link works without a token until `url_expires_at`, so keep it as secret as the "
        "document. Get this list again for a new one."
    )
    url_expires_at: Timestamp = Field(description="When the link ends: an hour from now.")


class Documents(Schema):
    """The documents of an order."""

    data: list[DocumentRecord] = Field(
        description="Invoices and credit notes, oldest first, then packing slips unless the order was cancelled."
    )


def document_records(shop: Shop, order: Order, now: datetime) -> list[dict[str, Any]]:
    ends = timestamp(link_end(now))
    found = [
        {
            "id": document.pk,
            "kind": document.kind,
            "number": document.number,
            "order_id": order.pk,
            "invoice_id": document.invoice_id,
            "fulfilment_id": None,
            "refund_id": document.refund_id if document.refund and not document.refund.is_foreign else None,
            "amount": to_wire(document.amount),
            "currency": document.currency,
            "issued_at": timestamp(document.issued_at),
            "url": signed_link(shop, f"{document.pk}", now=now),
            "url_expires_at": ends,
        }
        for document in documents_of(shop, order)
    ]
    if order.status == Order.Status.CANCELLED:
        return found
    slip = dict.fromkeys(("id", "number", "invoice_id", "fulfilment_id", "refund_id", "amount", "issued_at"))
    slip |= {"kind": "packing_slip", "order_id": order.pk, "currency": order.currency, "url_expires_at": ends}
    slips = f"packing-slips/{order.pk}"
    parcels = [
        slip | {"fulfilment_id": each.pk, "url": signed_link(shop, f"{slips}/{each.pk}", now=now)}
        for each in order.fulfilments.filter(cancelled_at=None)
    ]
    return [*found, slip | {"url": signed_link(shop, slips, now=now)}, *parcels]

from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet

from storefront.content.brand import paper_brand
from storefront.documents.models import Document, InvoiceSettings
from storefront.documents.records import Record, packing_slip_record
from storefront.orders.models import Fulfilment, Order
from storefront.shops.models import Shop


def settings_of(shop: Shop) -> InvoiceSettings | None:
    """The shop's settings; None if nobody has filled them in."""
    return InvoiceSettings.objects.filter(shop=shop).first()


def documents_of(shop: Shop, order: Order) -> QuerySet[Document]:
    """The order's invoices and credit notes, oldest first, without their records."""
    return (
        Document.objects.filter(shop=shop, order=order)
        .select_related("invoice", "refund")
        .defer("record", "invoice__record")
    )


def document_of(shop: Shop, document_id: int, order: Order | None = None) -> Document | None:
    """The shop's document with this id; with an order, only if it is that order's."""
    found = Document.objects.filter(shop=shop, pk=document_id)
    return (found if order is None else found.filter(order=order)).first()


def current_invoice(shop: Shop, order: Order) -> Document | None:
    """The order's newest invoice. Earlier ones were corrected, and are credited in full."""
    return Document.objects.filter(shop=shop, order=order, kind=Document.Kind.INVOICE).order_by("-revision").first()


def invoices_of(shop: Shop, orders: Iterable[Order]) -> dict[int, Document]:
    """The newest invoice of each of these orders that has one, by the order's id."""
    found = Document.objects.filter(shop=shop, order__in=[order.pk for order in orders], kind=Document.Kind.INVOICE)
    return {row.order_id: row for row in found.order_by("revision")}


def fulfilment_of(order: Order, fulfilment_id: int) -> Fulfilment | None:
    """The order's fulfilment with this id, unless it was cancelled."""
    found = Fulfilment.objects.filter(shop=order.shop_id, order=order, pk=fulfilment_id, cancelled_at=None)
    return found.prefetch_related("lines__line").first()


def packing_slip(shop: Shop, order: Order, fulfilment: Fulfilment | None, now: datetime) -> Record:
    """The packing slip of this fulfilment; without one, of the order, as in `packing_slips`."""
    order.shop = shop
    return packing_slip_record(order=order, seller=settings_of(shop), fulfilment=fulfilment, now=now)


def packing_slips(shop: Shop, orders: Iterable[Order], now: datetime) -> list[Record]:
    seller, brand, records = settings_of(shop), paper_brand(shop), []
    for order in orders:
        order.shop = shop
        records.append(packing_slip_record(order=order, seller=seller, brand=brand, now=now))
    return records

"""Shops that issue invoices, paid orders, and the worker's sweep."""

from datetime import datetime
from decimal import Decimal
from io import BytesIO
from uuid import uuid4

from pypdf import PdfReader

from storefront.documents.jobs import issue_due_documents
from storefront.documents.models import Document, InvoiceSettings
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.models import Refund
from storefront.payments.refunds import request_refund
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.payments.refunding import record_refunded
from tests.shops.factories import NOW


def make_settings(shop: Shop, **given) -> InvoiceSettings:
    values = {"is_on": True, "legal_name": f"{shop.name} GmbH", "address": "Am Kai 12\n20457 Hamburg"}
    return InvoiceSettings.objects.create(shop=shop, **values | given)


def paid_order(shop: Shop, price: str = "9.50", **given) -> Order:
    order = make_order(
        shop, sale_line(make_product(shop, f"Mug {uuid4()}", price=Decimal(price), stock_qty=100)), **given
    )
    return payments.mark_paid(shop=shop, order=order, now=NOW)


def work(now: datetime = NOW) -> int:
    """What the worker does for documents. How many orders it looked at."""
    return issue_due_documents(now=now, limit=100)


def refund(order: Order, amount: str | None = None) -> Refund:
    """A refund that the provider has carried out."""
    given = Decimal(amount) if amount else None
    made = request_refund(shop=order.shop, order=order, amount=given, now=NOW)
    record_refunded(shop=order.shop, refund=made, reference="re_1", now=NOW)
    return made


def issued(order: Order) -> list[Document]:
    return list(Document.objects.filter(order=order).order_by("id"))


def numbers(shop: Shop, prefix: str = "2026-") -> list[int]:
    found = Document.objects.filter(shop=shop, prefix=prefix)
    return sorted(found.values_list("position", flat=True))


def texts_of(pdf: bytes) -> list[str]:
    """The text of each page."""
    return [page.extract_text() for page in PdfReader(BytesIO(pdf)).pages]

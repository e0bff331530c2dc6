"""Issues invoices and credit notes. `docs/invoices.md` has the rules.

The documents that an order needs follow from the order alone: an invoice once it is paid; credit notes over refunds or,
once it is cancelled, over everything. So it does not matter how often this runs, in which order events happened, or
when a worker was killed: the order is locked, and missing documents are added in one transaction.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.documents.mails import send_document_mail
from storefront.documents.models import Document, DueOrder, InvoiceSettings
from storefront.documents.numbering import Number, take_number
from storefront.documents.queries import current_invoice, settings_of
from storefront.documents.records import credit_note_record, invoice_record
from storefront.kit.money import ZERO
from storefront.kit.refusals import Refusal
from storefront.orders.actions import lock_order
from storefront.orders.models import Order
from storefront.orders.templatetags.order_text import address_lines
from storefront.payments.models import Refund
from storefront.shops.models import Shop


class NotInvoiceable(Refusal):
    code = "order_not_invoiceable"
    message = _lazy("Only a paid order gets an invoice, unless its total is 0.00 or its customer was erased.")


class InvoicesOff(Refusal):
    code = "invoices_off"
    message = _lazy("This shop issues no invoices. Turn them on in the settings under Invoices.")


class AlreadyInvoiced(Refusal):
    code = "order_already_invoiced"
    message = _lazy("This order has an invoice.")


class NothingToCorrect(Refusal):
    code = "nothing_to_correct"
    message = _lazy("This order has no invoice, or one that is credited in full.")


@transaction.atomic
def issue_documents(*, shop: Shop, order: Order, now: datetime) -> list[Document]:
    """Issue the documents that the order lacks. An order without an invoice gets one only while the shop issues
    invoices; an order with an invoice gets its credit notes in any case."""
    order = _lock(shop, order)
    DueOrder.objects.filter(shop=shop, order=order).delete()
    seller, invoice = settings_of(shop), current_invoice(shop, order)
    if seller is None or (invoice is None and not (seller.is_on and is_invoiceable(order))):
        return []
    if invoice:
        return _credit_missing(order, seller, invoice, now)
    invoice = _issue_invoice(order, seller, address_lines(order.billing_address), now)
    return [invoice, *_credit_missing(order, seller, invoice, now)]


@transaction.atomic
def issue_invoice(*, shop: Shop, order: Order, now: datetime) -> list[Document]:
    """Issue the invoice of an order that was paid before the shop issued invoices. Raises NotInvoiceable, InvoicesOff
    and AlreadyInvoiced."""
    order = _lock(shop, order)
    if not is_invoiceable(order):
        raise NotInvoiceable
    seller = settings_of(shop)
    if seller is None or not seller.is_on:
        raise InvoicesOff
    if current_invoice(shop, order):
        raise AlreadyInvoiced
    return issue_documents(shop=shop, order=order, now=now)


@transaction.atomic
def correct_invoice(*, shop: Shop, order: Order, buyer: Sequence[str], now: datetime) -> list[Document]:
    """Credit the rest of the order's invoice and issue a new one, with the lines of `buyer` as billing address and the
    current seller from the settings. Raises InvoicesOff and NothingToCorrect."""
    order = _lock(shop, order)
    seller, invoice = settings_of(shop), current_invoice(shop, order)
    if seller is None or not seller.is_on:
        raise InvoicesOff
    left = left_to_credit(invoice) if invoice else ZERO
    if invoice is None or not left:
        raise NothingToCorrect
    issued = [_issue_credit_note(order, seller, invoice, left, "correction", None, now)]
    invoice = _issue_invoice(order, seller, buyer, now, corrects=invoice)
    return [*issued, invoice, *_credit_missing(order, seller, invoice, now)]


def is_invoiceable(order: Order) -> bool:
    """Returns True if money was paid for the order. An order for 0.00 cannot be invoiced, and neither can one whose
    customer was erased."""
    return order.payment_status != Order.PaymentStatus.PENDING and order.total > ZERO and order.erased_at is None


def left_to_credit(invoice: Document) -> Decimal:
    """The part of the invoice that is not credited yet."""
    return invoice.amount - sum(invoice.credit_notes.values_list("amount", flat=True), ZERO)


def _lock(shop: Shop, order: Order) -> Order:
    order = lock_order(shop, order)
    order.shop = shop
    return order


def _credit_missing(order: Order, seller: InvoiceSettings, invoice: Document, now: datetime) -> list[Document]:
    """Issue a credit note for each refund that was carried out and is not credited yet. For a cancelled order, credit
    everything."""
    issued = []
    for refund, amount in _to_credit(order, invoice):
        if credited := min(amount, left_to_credit(invoice)):
            issued.append(_issue_credit_note(order, seller, invoice, credited, "refund", refund, now))
    left = left_to_credit(invoice)
    if order.status == Order.Status.CANCELLED and left > ZERO:
        issued.append(_issue_credit_note(order, seller, invoice, left, "cancellation", None, now))
    return issued


def _to_credit(order: Order, invoice: Document) -> list[tuple[Refund, Decimal]]:
    """The order's refunds to credit, with the amount of each. A refund to several payments counts as one, once all
    parts have an outcome. Credits for a refund that failed later count toward the next refunds."""
    families: dict[int, list[Refund]] = {}
    for refund in Refund.objects.filter(shop=order.shop, order=order).order_by("pk"):
        families.setdefault(refund.part_of_id or refund.pk, []).append(refund)
    credited = _credited_by_refund(invoice)
    spare, missing = ZERO, []
    for pk, family in families.items():
        done = sum((each.amount for each in family if each.status == Refund.Status.DONE), ZERO)
        more = done - credited.get(pk, ZERO)
        spare += max(-more, ZERO)
        if more > ZERO and all(each.status != Refund.Status.PENDING for each in family):
            missing.append((family[0], more))
    for i, (refund, amount) in enumerate(missing):
        covered = min(spare, amount)
        spare -= covered
        missing[i] = (refund, amount - covered)
    return missing


def _credited_by_refund(invoice: Document) -> dict[int, Decimal]:
    """The amounts that credit notes have credited for refunds, by the refund, or the refund that it is a part of."""
    found: dict[int, Decimal] = {}
    notes = invoice.credit_notes.filter(refund__isnull=False)
    for pk, whole, amount in notes.values_list("refund_id", "refund__part_of_id", "amount"):
        found[whole or pk] = found.get(whole or pk, ZERO) + amount
    return found


def _issue_invoice(
    order: Order, seller: InvoiceSettings, buyer: Sequence[str], now: datetime, corrects: Document | None = None
) -> Document:
    number = take_number(shop=order.shop, prefix=seller.invoice_prefix, now=now)
    replaces = corrects.number if corrects else ""
    document = Document(
        kind=Document.Kind.INVOICE,
        revision=corrects.revision + 1 if corrects else 1,
        amount=order.total,
        record=invoice_record(order=order, number=number, seller=seller, buyer=buyer, replaces=replaces, now=now),
    )
    return _store(document, order, number, now)


def _issue_credit_note(
    order: Order,
    seller: InvoiceSettings,
    invoice: Document,
    amount: Decimal,
    reason: str,
    refund: Refund | None,
    now: datetime,
) -> Document:
    number = take_number(shop=order.shop, prefix=seller.credit_note_prefix, now=now)
    record = credit_note_record(
        order=order,
        number=number,
        seller=seller,
        invoice=invoice,
        earlier=invoice.credit_notes.all(),
        amount=amount,
        reason=reason,
        refund=refund,
        now=now,
    )
    document = Document(
        kind=Document.Kind.CREDIT_NOTE,
        revision=invoice.revision,
        invoice=invoice,
        refund=refund,
        amount=amount,
        record=record,
    )
    return _store(document, order, number, now)


def _store(document: Document, order: Order, number: Number, now: datetime) -> Document:
    document.shop, document.order, document.currency, document.issued_at = order.shop, order, order.currency, now
    document.number, document.prefix, document.position = str(number), number.prefix, number.position
    document.save(force_insert=True)
    after = {"order": order.number, "amount": document.amount, "currency": document.currency}
    action = f"{document.kind}.issued"
    about = audit.Object(document.kind, document.pk, document.number)
    audit.record(shop=order.shop, action=action, object=about, after=after, now=now)
    send_document_mail.enqueue(document.shop_id, document.pk)
    return document

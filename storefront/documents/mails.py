"""Sends the mail to a shopper about an invoice or credit note."""

from typing import Any

from django.core.mail import EmailMessage
from django_tasks import task

from storefront.content.mail_words import Words, write_mail
from storefront.documents.models import Document
from storefront.kit.format import format_money
from storefront.kit.queues import MAILS
from storefront.orders.jobs import order_values
from storefront.orders.sent_mails import send_and_record
from storefront.shops.places import page_address
from storefront.shops.spoken import speaking


@task(queue_name=MAILS)
def send_document_mail(shop_id: int, document_id: int, tries: int = 0) -> None:
    """Mail the shopper a link to an invoice or credit note."""
    found = Document.objects.select_related("shop", "order__customer", "order__shop")
    document = found.get(shop=shop_id, pk=document_id)
    given: Any = {"what": document.kind, "task": send_document_mail, "tries": tries}
    send_and_record(document_mail(document), shop_id, document_id, order=document.order, **given)


def document_mail(document: Document, words: Words | None = None) -> EmailMessage:
    """The mail as plain text. The document is linked, not attached: a shopper may have entered a stranger's address,
    who would receive whatever the shopper typed."""
    order, shop = document.order, document.shop
    with speaking(shop, order.language):
        context = {
            "document": document,
            "what": document.get_kind_display().lower(),
            "order": order,
            "document_url": page_address("checkout:document", order.public_id, document.pk, shop=shop),
            "url": page_address("checkout:confirmation", order.public_id, shop=shop),
        }
        buttons = [context["document_url"], context["url"]]
        values = {"document_number": document.number, "amount": format_money(document.amount, document.currency)}
        return write_mail(
            document.kind,
            shop=shop,
            to=order.email,
            values=order_values(order) | values,
            context=context,
            words=words,
            buttons=buttons,
        )

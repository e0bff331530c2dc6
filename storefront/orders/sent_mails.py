"""Records the mails about an order, and sends mails that staff write."""

from datetime import datetime, timedelta
from typing import Any

from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy
from django_tasks import task
from django_tasks.base import Task

from storefront import audit
from storefront.content.brand import brand_of
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.kit.refusals import Refusal
from storefront.orders.models import Order, OrderMail
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.shops.places import page_address
from storefront.shops.spoken import speaking

# Mails that a shop's staff can write in an hour, so that a stolen session cannot send spam.
MAX_PER_HOUR = 100
WRITTEN = "message"
# How long the admin shows a mail that could not be sent.
MENTIONED_FOR = timedelta(days=14)


def with_failed_mail(orders: QuerySet[Order], shop: Shop, now: datetime) -> QuerySet[Order]:
    """The orders among these with a mail that recently could not be sent."""
    failed = OrderMail.objects.filter(shop=shop, failed_at__gt=now - MENTIONED_FOR)
    return orders.filter(pk__in=failed.values("order"))


class TooManyMails(Refusal):
    status, code = 429, "too_many_mails"
    message = format_lazy(
        _lazy("At most {count} emails can be written in an hour. Please try again later."), count=MAX_PER_HOUR
    )


class NoMail(Refusal):
    """The deployment has no mail server (`EMAIL_URL`)."""

    code = "no_mail"
    message = _lazy("Email is not set up here, so nothing can be sent.")


class NobodyToWriteTo(Refusal):
    """The order's customer was erased (`erasing.py`)."""

    code = "customer_erased"
    message = _lazy("The customer's data were erased from this order, so there is nobody to write to.")


@transaction.atomic
def write_to_customer(*, shop: Shop, order: Order, subject: str, body: str, now: datetime) -> OrderMail:
    """Queue a mail to the order's customer. Raises NobodyToWriteTo, NoMail and TooManyMails. Locks the shop, so that
    concurrent mails are counted."""
    if not order.email:
        raise NobodyToWriteTo
    if not mail.is_sent():
        raise NoMail
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    written = OrderMail.objects.filter(shop=shop, created_at__gt=now - timedelta(hours=1)).exclude(text="")
    if written.count() >= MAX_PER_HOUR:
        raise TooManyMails
    row = OrderMail.objects.create(
        shop=shop,
        order=order,
        kind=WRITTEN,
        email=order.email,
        subject=" ".join(subject.split())[:255],
        text=body,
        written_by=audit.current_actor().name[:254],
        created_at=now,
    )
    audit.record(shop=shop, action="order.mail_written", object=order, after={"subject": row.subject}, now=now)
    send_message.enqueue(shop.pk, row.pk)
    return row


def send_and_record(message: EmailMessage, *arguments: Any, order: Order, what: str, task: Task, tries: int) -> None:
    """`mail.send`, and the order's record of it: when it was sent, or given up. Where it has to be tried again, the
    `task` is enqueued with its `arguments` and the number of tries. A mail of which the worker could not store the
    record is missing from the order's timeline; it is not sent twice. Nothing is sent about an order without an
    address: its customer was erased."""
    if not order.email:
        return
    is_sent = mail.send(message, *arguments, what=what, task=task, tries=tries)
    if is_sent is not None and mail.is_sent() and (is_sent or tries >= len(mail.WAITS)):
        now = clock.now()
        outcome = {"sent_at": now} if is_sent else {"failed_at": now}
        subject = message.subject[:255]
        OrderMail.objects.create(
            shop_id=order.shop_id, order=order, kind=what, email=order.email, subject=subject, created_at=now, **outcome
        )


@task(queue_name=MAILS)
def send_message(shop_id: int, mail_id: int, tries: int = 0) -> None:
    """Send a mail that staff wrote, unless it was sent already, or its customer was erased. Retried later if the mail
    server does not respond."""
    row = OrderMail.objects.select_related("shop", "order").filter(shop=shop_id, pk=mail_id).first()
    if row is None or row.sent_at is not None:
        return
    is_sent = mail.send(message_mail(row), shop_id, mail_id, what=row.kind, task=send_message, tries=tries)
    if is_sent:
        OrderMail.objects.filter(shop=shop_id, pk=row.pk).update(sent_at=clock.now())
    elif is_sent is not None and tries >= len(mail.WAITS):
        OrderMail.objects.filter(shop=shop_id, pk=row.pk).update(failed_at=clock.now())


def message_mail(row: OrderMail) -> EmailMessage:
    order, shop = row.order, row.shop
    with speaking(shop, order.language):
        url = page_address("checkout:confirmation", order.public_id, shop=shop)
        text = render_to_string("orders/message.txt", {"text": row.text, "order": order, "shop": shop, "url": url})
        given: Any = {"buttons": [url], "brand": brand_of(shop)}
        return mail.message(shop=shop, to=row.email, subject=row.subject, text=text, **given)

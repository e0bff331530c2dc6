"""Sends the mails to customers that staff wrote."""

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django_tasks import task

from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.orders.models import OrderMail
from storefront.shops import mail
from storefront.shops.places import page_address


@task(queue_name=MAILS)
def send_message(shop_id: int, mail_id: int, tries: int = 0) -> None:
    """Send a mail that staff wrote, unless it was sent already, or its customer was erased. Retried later if the mail
    server does not respond."""
    row = OrderMail.objects.select_related("shop", "order").filter(shop=shop_id, pk=mail_id).first()
    if row is None or row.sent_at is not None:
        return
    if mail.send(message_mail(row), shop_id, mail_id, what=row.kind, task=send_message, tries=tries):
        OrderMail.objects.filter(shop=shop_id, pk=row.pk).update(sent_at=clock.now())
    elif tries >= len(mail.WAITS):
        OrderMail.objects.filter(shop=shop_id, pk=row.pk).update(failed_at=clock.now())


def message_mail(row: OrderMail) -> EmailMessage:
    order, shop = row.order, row.shop
    url = page_address("checkout:confirmation", order.public_id, shop=shop)
    text = render_to_string("orders/message.txt", {"text": row.text, "order": order, "shop": shop, "url": url})
    return mail.message(shop=shop, to=row.email, subject=row.subject, text=text)

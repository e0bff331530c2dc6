"""A shopper's message to the shop, mailed by the worker."""

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django_tasks import task

from storefront.content.brand import brand_of
from storefront.kit.queues import MAILS
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.shops.spoken import speaking


def can_receive(shop: Shop) -> bool:
    """Returns True if a message can reach the shop: it has an address, and this deployment sends mail."""
    return bool(shop.email) and mail.is_sent()


@task(queue_name=MAILS)
def send_message(shop_id: int, name: str, email: str, text: str, tries: int = 0) -> None:
    """Mail the message to the shop's address; an answer goes to the shopper. Nothing is sent if the shop has no address
    any more."""
    shop = Shop.objects.get(pk=shop_id)
    if not shop.email:
        return
    with speaking(shop, shop.language):
        body = render_to_string("content/message.txt", {"name": name, "email": email, "text": text, "shop": shop})
        subject = _("Message from %(name)s") % {"name": name}
        message = mail.message(
            shop=shop, to=shop.email, subject=subject, text=body, brand=brand_of(shop), is_to_staff=True
        )
    message.reply_to = [email]
    mail.send(message, shop_id, name, email, text, what="message", task=send_message, tries=tries)

"""Tasks of the worker for orders: mails to shoppers."""

from typing import Any

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django_tasks import task

from storefront.customers.queries import normal_email
from storefront.kit.format import format_bytes
from storefront.kit.queues import MAILS
from storefront.orders.download_links import download_url, is_withdrawn
from storefront.orders.models import Fulfilment, Order
from storefront.shops import mail
from storefront.shops.places import page_address


@task(queue_name=MAILS)
def send_order_confirmation(order_id: int, tries: int = 0) -> None:
    """Send the order confirmation. Retried later if the mail server does not respond."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(pk=order_id)
    mail.send(
        confirmation_mail(order),
        what="order_confirmation",
        tries=tries,
        again=lambda due: send_order_confirmation.using(run_after=due).enqueue(order_id, tries + 1),
    )


@task(queue_name=MAILS)
def send_fulfilment_mail(fulfilment_id: int, tries: int = 0) -> None:
    """Send the email about a fulfilment, with its tracking data."""
    found = Fulfilment.objects.select_related("order__shop", "order__customer").prefetch_related("lines__line")
    mail.send(
        fulfilment_mail(found.get(pk=fulfilment_id)),
        what="fulfilment",
        tries=tries,
        again=lambda due: send_fulfilment_mail.using(run_after=due).enqueue(fulfilment_id, tries + 1),
    )


@task(queue_name=MAILS)
def send_downloads_mail(order_id: int, tries: int = 0) -> None:
    """Send the links to the order's files, unless it was cancelled or refunded meanwhile."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("downloads__file").get(pk=order_id)
    if is_withdrawn(order):
        return
    mail.send(
        downloads_mail(order),
        what="downloads",
        tries=tries,
        again=lambda due: send_downloads_mail.using(run_after=due).enqueue(order_id, tries + 1),
    )


def confirmation_mail(order: Order) -> EmailMessage:
    """The confirmation as plain text."""
    return _mail(order, "confirmation", subject=f"Your order {order.number} at {order.shop.name}")


def fulfilment_mail(fulfilment: Fulfilment) -> EmailMessage:
    """The email about a fulfilment, as plain text. Whether the order is complete, only the order's page says."""
    order = fulfilment.order
    what = "is on its way" if order.shipping_address else "is ready"
    subject = f"Your order {order.number} at {order.shop.name} {what}"
    return _mail(order, "fulfilment", subject=subject, fulfilment=fulfilment)


def downloads_mail(order: Order) -> EmailMessage:
    """The email with the links to the order's files, as plain text."""
    files = [
        {
            "name": download.name,
            "url": download_url(download, order.shop),
            "size": format_bytes(download.file.size),
            "max_downloads": download.max_downloads,
            "expires_at": download.expires_at,
        }
        for download in order.downloads.all()
    ]
    subject = f"Your downloads from order {order.number} at {order.shop.name}"
    return _mail(order, "downloads", subject=subject, files=files)


def _mail(order: Order, name: str, *, subject: str, **context: Any) -> EmailMessage:
    """A mail to the order's email address.

    A shopper may have entered a stranger's address. So the mail contains texts that the shopper typed (`is_proved`)
    only if the address belongs to the order's customer.
    """
    shop, customer = order.shop, order.customer
    context["is_proved"] = customer is not None and customer.email == normal_email(order.email)
    url = page_address("checkout:confirmation", order.public_id, shop=shop)
    text = render_to_string(f"orders/{name}.txt", {"order": order, "shop": shop, "url": url} | context)
    return mail.message(shop=shop, to=order.email, subject=subject, text=text)

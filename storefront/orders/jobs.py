"""What the worker does for orders."""

from datetime import timedelta
from email.utils import formataddr
from smtplib import SMTPException

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django_tasks import task

from storefront.kit import clock
from storefront.orders.models import Order

log = structlog.get_logger(__name__)

# After a try that failed, until the next one; after the last the log says that it was given up.
WAITS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))


@task()
def send_order_confirmation(order_id: int, tries: int = 0) -> None:
    """Mail the shopper what they ordered. A mail server that is away is asked again later."""
    order = Order.objects.select_related("shop").prefetch_related("lines").get(pk=order_id)
    try:
        confirmation_mail(order).send()
    except (OSError, SMTPException) as error:
        # Only the kind of error: its text can hold the shopper's address.
        log.warning("order_confirmation_failed", order_id=order_id, tries=tries + 1, error=type(error).__name__)
        if tries < len(WAITS):
            due = clock.now() + WAITS[tries]
            send_order_confirmation.using(run_after=due).enqueue(order_id, tries + 1)


def confirmation_mail(order: Order) -> EmailMessage:
    """The confirmation as plain text, answered to the shop."""
    shop = order.shop
    url = shop.base_url + reverse("checkout:confirmation", args=[order.public_id])
    text = render_to_string("orders/confirmation.txt", {"order": order, "shop": shop, "url": url})
    name = " ".join(shop.name.split())
    return EmailMessage(
        subject=f"Your order {order.number} at {name}",
        body=text,
        from_email=formataddr((name, shop.email or settings.DEFAULT_FROM_EMAIL)),
        to=[order.email],
    )

"""What the worker does for orders."""

from typing import Any

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django_tasks import task

from storefront.orders.models import Fulfilment, Order
from storefront.shops import mail


@task()
def send_order_confirmation(order_id: int, tries: int = 0) -> None:
    """Mail the shopper what they ordered. A mail server that is away is asked again later."""
    order = Order.objects.select_related("shop").prefetch_related("lines").get(pk=order_id)
    mail.send(
        confirmation_mail(order),
        what="order_confirmation",
        tries=tries,
        again=lambda due: send_order_confirmation.using(run_after=due).enqueue(order_id, tries + 1),
    )


@task()
def send_fulfilment_mail(fulfilment_id: int, tries: int = 0) -> None:
    """Mail the shopper what has been handed over, and where it can be followed."""
    found = Fulfilment.objects.select_related("order__shop").prefetch_related("lines__line")
    mail.send(
        fulfilment_mail(found.get(pk=fulfilment_id)),
        what="fulfilment",
        tries=tries,
        again=lambda due: send_fulfilment_mail.using(run_after=due).enqueue(fulfilment_id, tries + 1),
    )


def confirmation_mail(order: Order) -> EmailMessage:
    """The confirmation as plain text, answered to the shop."""
    return _mail(order, "confirmation", subject=f"Your order {order.number} at {order.shop.name}")


def fulfilment_mail(fulfilment: Fulfilment) -> EmailMessage:
    """What has been handed over, as plain text; whether that is all of it, the order's page tells."""
    order = fulfilment.order
    what = "is on its way" if order.shipping_address else "is ready"
    subject = f"Your order {order.number} at {order.shop.name} {what}"
    return _mail(order, "fulfilment", subject=subject, fulfilment=fulfilment)


def _mail(order: Order, name: str, *, subject: str, **context: Any) -> EmailMessage:
    shop = order.shop
    url = shop.base_url + reverse("checkout:confirmation", args=[order.public_id])
    text = render_to_string(f"orders/{name}.txt", {"order": order, "shop": shop, "url": url} | context)
    return mail.message(shop=shop, to=order.email, subject=subject, text=text)

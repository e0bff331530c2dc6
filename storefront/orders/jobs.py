"""Tasks of the worker for orders: mails to shoppers."""

from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django_tasks import task

from storefront.customers.queries import normal_email
from storefront.kit.format import format_bytes, format_money
from storefront.kit.money import ZERO
from storefront.kit.queues import MAILS
from storefront.orders.download_links import download_url, is_withdrawn
from storefront.orders.mail_pictures import mail_picture
from storefront.orders.models import Fulfilment, Order
from storefront.orders.sent_mails import send_and_record
from storefront.shops import mail
from storefront.shops.models import Shop, StaffMember
from storefront.shops.places import page_address


@task(queue_name=MAILS)
def send_order_confirmation(order_id: int, tries: int = 0) -> None:
    """Send the order confirmation. Retried later if the mail server does not respond."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(pk=order_id)
    send_and_record(
        confirmation_mail(order),
        order=order,
        what="order_confirmation",
        tries=tries,
        again=lambda due: send_order_confirmation.using(run_after=due).enqueue(order_id, tries + 1),
    )


@task(queue_name=MAILS)
def send_fulfilment_mail(fulfilment_id: int, tries: int = 0) -> None:
    """Send the email about a fulfilment, with its tracking data, unless it was cancelled meanwhile."""
    found = Fulfilment.objects.select_related("order__shop", "order__customer").prefetch_related("lines__line")
    fulfilment = found.get(pk=fulfilment_id)
    if fulfilment.cancelled_at is not None:
        return
    send_and_record(
        fulfilment_mail(fulfilment),
        order=fulfilment.order,
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
    send_and_record(
        downloads_mail(order),
        order=order,
        what="downloads",
        tries=tries,
        again=lambda due: send_downloads_mail.using(run_after=due).enqueue(order_id, tries + 1),
    )


@task(queue_name=MAILS)
def send_change_mail(
    order_id: int, kind: str, amount: str = "0.00", refunds: Sequence[int] = (), tries: int = 0
) -> None:
    """Send the email that an order was paid, cancelled or, with how much and by which refunds, refunded."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(pk=order_id)

    def again(due: datetime) -> None:
        send_change_mail.using(run_after=due).enqueue(order_id, kind, amount, list(refunds), tries + 1)

    send_and_record(
        change_mail(order, kind, amount=Decimal(amount), refunds=refunds),
        order=order,
        what=f"order_{kind}",
        tries=tries,
        again=again,
    )


@task(queue_name=MAILS)
def tell_merchant(order_id: int, to: str = "", tries: int = 0) -> None:
    """Tell the shop of a new order: one task for each address, so that one that fails does not repeat the others."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(pk=order_id)
    if not to:
        for address in merchants_of(order.shop):
            tell_merchant.enqueue(order_id, address)
        return
    mail.send(
        merchant_mail(order, to),
        what="new_order",
        tries=tries,
        again=lambda due: tell_merchant.using(run_after=due).enqueue(order_id, to, tries + 1),
    )


def merchants_of(shop: Shop) -> list[str]:
    """Who is told of new orders: the addresses in the settings, else the shop's own, else its owners'."""
    if shop.order_emails or shop.email:
        return shop.order_emails or [str(shop.email)]
    owners = StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER, user__is_active=True)
    return list(owners.order_by("pk").values_list("user__email", flat=True))


def confirmation_mail(order: Order) -> EmailMessage:
    """The confirmation, with how to pay."""
    return _mail(order, "confirmation", subject=f"Your order {order.number} at {order.shop.name}")


def change_mail(order: Order, kind: str, *, amount: Decimal = ZERO, refunds: Collection[int] = ()) -> EmailMessage:
    """The email that an order was `paid`, `cancelled` or `refunded`. Refunds are of a higher room, and reach an order
    by their relation."""
    what = {"paid": "is paid", "cancelled": "was cancelled", "refunded": "was refunded"}[kind]
    done: Any = order.refunds.filter(pk__in=refunds).prefetch_related("lines__line") if refunds else ()
    parts = [part for refund in done for part in refund.lines.all()]
    delivery = sum((refund.shipping for refund in done), ZERO)
    subject = f"Your order {order.number} at {order.shop.name} {what}"
    return _mail(order, kind, subject=subject, amount=amount, parts=parts, delivery=delivery)


def merchant_mail(order: Order, to: str) -> EmailMessage:
    """The email to the shop about a new order."""
    shop = order.shop
    url = page_address("admin:orders_order_change", order.pk, shop=shop)
    total = format_money(order.total, order.currency)
    return mail.message(
        shop=shop,
        to=to,
        subject=f"New order {order.number}: {total}",
        text=render_to_string("orders/new_order.txt", {"order": order, "shop": shop, "url": url}),
        pictures=_pictures(order),
        is_to_staff=True,
    )


def fulfilment_mail(fulfilment: Fulfilment) -> EmailMessage:
    """The email about a fulfilment. Whether the order is complete, only the order's page says."""
    order = fulfilment.order
    what = "is on its way" if order.shipping_address else "is ready to collect" if order.pickup_place else "is ready"
    subject = f"Your order {order.number} at {order.shop.name} {what}"
    return _mail(order, "fulfilment", subject=subject, fulfilment=fulfilment)


def downloads_mail(order: Order) -> EmailMessage:
    """The email with the links to the order's files."""
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
    links = [context["fulfilment"].tracking_url] if "fulfilment" in context else []
    return mail.message(shop=shop, to=order.email, subject=subject, text=text, pictures=_pictures(order), links=links)


def _pictures(order: Order) -> dict[str, str]:
    """The pictures of the order's lines, by name."""
    return {line.name: mail_picture(order.shop, line.image) for line in order.lines.all()}

"""Tasks of the worker for orders: mails to shoppers."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.core.mail import EmailMessage
from django_tasks import task

from storefront.content.mail_words import Words, write_mail
from storefront.customers.queries import normal_email
from storefront.kit.format import format_bytes, format_money, format_time
from storefront.kit.money import ZERO
from storefront.kit.queues import MAILS
from storefront.orders.download_links import download_url, is_withdrawn
from storefront.orders.mail_pictures import mail_picture
from storefront.orders.models import Fulfilment, Order
from storefront.orders.sent_mails import send_and_record
from storefront.shops import mail
from storefront.shops.models import Shop, StaffMember
from storefront.shops.places import page_address
from storefront.shops.spoken import speaking


@task(queue_name=MAILS)
def send_order_confirmation(shop_id: int, order_id: int, tries: int = 0) -> None:
    """Send the order confirmation. Retried later if the mail server does not respond."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(shop=shop_id, pk=order_id)
    given: Any = {"what": "order_confirmation", "task": send_order_confirmation, "tries": tries}
    send_and_record(confirmation_mail(order), shop_id, order_id, order=order, **given)


@task(queue_name=MAILS)
def send_fulfilment_mail(shop_id: int, fulfilment_id: int, tries: int = 0) -> None:
    """Send the email about a fulfilment, with its tracking data, unless it was cancelled meanwhile."""
    found = Fulfilment.objects.select_related("order__shop", "order__customer").prefetch_related("lines__line")
    fulfilment = found.get(shop=shop_id, pk=fulfilment_id)
    if fulfilment.cancelled_at is not None:
        return
    given: Any = {"what": "fulfilment", "task": send_fulfilment_mail, "tries": tries}
    send_and_record(fulfilment_mail(fulfilment), shop_id, fulfilment_id, order=fulfilment.order, **given)


@task(queue_name=MAILS)
def send_downloads_mail(shop_id: int, order_id: int, tries: int = 0) -> None:
    """Send the links to the order's files, unless it was cancelled or refunded meanwhile."""
    found = Order.objects.select_related("shop", "customer").prefetch_related("downloads__file")
    order = found.get(shop=shop_id, pk=order_id)
    if is_withdrawn(order):
        return
    given: Any = {"what": "downloads", "task": send_downloads_mail, "tries": tries}
    send_and_record(downloads_mail(order), shop_id, order_id, order=order, **given)


@task(queue_name=MAILS)
def send_change_mail(
    shop_id: int, order_id: int, kind: str, amount: str = "0.00", refunds: Sequence[int] = (), tries: int = 0
) -> None:
    """Send the email that an order was paid, cancelled or refunded; `amount` and `refunds` are the refund's."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(shop=shop_id, pk=order_id)
    message = change_mail(order, kind, amount=Decimal(amount), refunds=refunds)
    given: Any = {"what": f"order_{kind}", "task": send_change_mail, "tries": tries}
    send_and_record(message, shop_id, order_id, kind, amount, list(refunds), order=order, **given)


@task(queue_name=MAILS)
def tell_merchant(shop_id: int, order_id: int, to: str = "", tries: int = 0) -> None:
    """Mail a new order to the shop: one task for each address, so that a failed one does not repeat the others."""
    order = Order.objects.select_related("shop", "customer").prefetch_related("lines").get(shop=shop_id, pk=order_id)
    if not to:
        for address in merchants_of(order.shop):
            tell_merchant.enqueue(shop_id, order_id, address)
        return
    mail.send(merchant_mail(order, to), shop_id, order_id, to, what="new_order", task=tell_merchant, tries=tries)


def merchants_of(shop: Shop) -> list[str]:
    """The addresses that get a mail about each new order: those in the settings, else the shop's own, else its
    owners'."""
    if shop.order_emails or shop.email:
        return shop.order_emails or [str(shop.email)]
    owners = StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER, user__is_active=True)
    return list(owners.order_by("pk").values_list("user__email", flat=True))


def confirmation_mail(order: Order, words: Words | None = None) -> EmailMessage:
    """The confirmation, with payment instructions. In all of these mails, `words` replace the shop's own texts."""
    with speaking(order.shop, order.language):
        return _mail(order, "order_confirmation", words)


def change_mail(
    order: Order, kind: str, words: Words | None = None, *, amount: Decimal = ZERO, refunds: Collection[int] = ()
) -> EmailMessage:
    """The email that an order was `paid`, `cancelled` or `refunded`. Refunds are in a higher room, and are reached by
    the order's relation."""
    done: Any = order.refunds.filter(pk__in=refunds).prefetch_related("lines__line") if refunds else ()
    parts = [part for refund in done for part in refund.lines.all()]
    delivery = sum((refund.shipping for refund in done), ZERO)
    with speaking(order.shop, order.language):
        values = {"amount": format_money(amount, order.currency)}
        return _mail(order, f"order_{kind}", words, values, amount=amount, parts=parts, delivery=delivery)


def merchant_mail(order: Order, to: str, words: Words | None = None) -> EmailMessage:
    """The email to the shop about a new order, in the shop's main language."""
    shop = order.shop
    url = page_address("admin:orders_order_change", order.pk, shop=shop)
    with speaking(shop, shop.language):
        return write_mail(
            "new_order",
            shop=shop,
            to=to,
            values=_values(order, is_proved=True),
            context={"order": order, "url": url},
            words=words,
            pictures=_pictures(order),
            buttons=[url],
            is_to_staff=True,
        )


def fulfilment_mail(fulfilment: Fulfilment, words: Words | None = None) -> EmailMessage:
    """The email about a fulfilment. Only the order's page shows whether the order is complete."""
    order = fulfilment.order
    kind = "order_sent" if order.shipping_address else "order_to_collect" if order.pickup_place else "order_ready"
    with speaking(order.shop, order.language):
        return _mail(order, kind, words, fulfilment=fulfilment)


def downloads_mail(order: Order, words: Words | None = None) -> EmailMessage:
    """The email with the links to the order's files."""
    with speaking(order.shop, order.language):
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
        return _mail(order, "downloads", words, files=files)


def _mail(
    order: Order, kind: str, words: Words | None, values: Mapping[str, str] | None = None, **context: Any
) -> EmailMessage:
    """A mail to the order's email address, in the language that is spoken.

    A shopper may have entered a stranger's address. So the mail contains texts that the shopper typed (`is_proved`)
    only if the order's customer, whose address it is, was signed in.
    """
    shop = order.shop
    context["is_proved"] = is_proved(order)
    url = page_address("checkout:confirmation", order.public_id, shop=shop)
    tracking = [context["fulfilment"].tracking_url] if "fulfilment" in context else []
    return write_mail(
        kind,
        shop=shop,
        to=order.email,
        values=order_values(order) | dict(values or {}),
        context={"order": order, "url": url} | context,
        words=words,
        pictures=_pictures(order),
        buttons=[url, *(file["url"] for file in context.get("files", ())), *tracking],
    )


def is_proved(order: Order) -> bool:
    """Returns True if the owner of the order's email address placed the order."""
    is_customers = order.customer is not None and order.customer.email == normal_email(order.email)
    return is_customers and not order.placed_by_guest


def order_values(order: Order) -> dict[str, str]:
    """The values of the placeholders in mails to the order's email address (`mail_kinds.OF_ORDER`)."""
    return _values(order, is_proved=is_proved(order))


def _values(order: Order, *, is_proved: bool) -> dict[str, str]:
    return {
        "order_number": str(order.number),
        "order_time": format_time(order.placed_at, order.shop.timezone),
        "order_total": format_money(order.total, order.currency),
        "first_name": (order.billing_address.get("name") or "").partition(" ")[0] if is_proved else "",
    }


def _pictures(order: Order) -> dict[str, str]:
    """The pictures of the order's lines, by name."""
    return {line.name: mail_picture(order.shop, line.image) for line in order.lines.all()}

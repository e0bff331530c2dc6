"""The mails of stock alerts, sent by the worker. Links are made when a mail is sent, so the queue contains none."""

from typing import Any

from django.core.mail import EmailMessage
from django_tasks import task

from storefront.catalogue.models import Product, Variant
from storefront.catalogue.rules import full_name
from storefront.content.mail_words import Words, write_mail
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.shops.places import page_address
from storefront.shops.spoken import speaking
from storefront.staff import doors
from storefront.stock_alerts.links import confirm_link, stop_link
from storefront.stock_alerts.models import StockAlert


@task(queue_name=MAILS)
def send_confirmation(shop_id: int, alert_id: int, tries: int = 0) -> None:
    """Mail the link by which the owner of the address confirms the alert. Does nothing if the alert is confirmed or
    deleted."""
    alert = (
        StockAlert.objects.select_related("shop", "product", "variant")
        .filter(shop=shop_id, pk=alert_id, confirmed_at=None)
        .first()
    )
    if alert is None:
        return
    with speaking(alert.shop, alert.language):
        link = confirm_link(alert.shop, alert)
        of = alert.shop, alert.product, alert.variant, alert.email
        message = alert_mail("stock_alert_confirmation", *of, link=link)
    mail.send(message, shop_id, alert_id, what="stock_alert_confirmation", task=send_confirmation, tries=tries)


@task(queue_name=MAILS)
def send_alert(
    shop_id: int, product_id: int, variant_id: int | None, email: str, tries: int = 0, language: str = ""
) -> None:
    """Mail that a product can be bought again. Sends nothing if the product was deleted or is not public any more.

    If the shop was closed meanwhile, the alert is stored again, and waits until the shop opens."""
    product = Product.objects.select_related("shop").filter(shop=shop_id, pk=product_id).first()
    variants = Variant.objects.filter(shop=shop_id, product=product_id)
    variant = variants.filter(pk=variant_id).first() if variant_id is not None else None
    if product is None or not product.is_published(clock.now()) or (variant is None and variant_id is not None):
        return
    if doors.is_closed(product.shop):
        waits = {"shop_id": shop_id, "product_id": product_id, "variant_id": variant_id, "email": email}
        confirmed = {"confirmed_at": clock.now(), "language": language}
        StockAlert.objects.update_or_create(
            **waits, defaults=confirmed, create_defaults=confirmed | {"created_at": clock.now()}
        )
        return
    with speaking(product.shop, language):
        link = page_address("website:product", product.slug, shop=product.shop)
        link += f"?variant={variant.pk}" if variant else ""
        message = alert_mail("stock_alert", product.shop, product, variant, email, link=link)
    given = shop_id, product_id, variant_id, email
    mail.send(message, *given, what="stock_alert", task=send_alert, tries=tries, language=language)


def alert_mail(
    kind: str,
    shop: Shop,
    product: Product,
    variant: Variant | None,
    email: str,
    *,
    link: str,
    words: Words | None = None,
) -> EmailMessage:
    name = full_name(product.name, variant.name if variant else None)
    stop = stop_link(shop, email)
    given: Any = {"context": {"name": name, "link": link, "stop": stop}, "buttons": [link, stop], "unsubscribe": stop}
    return write_mail(kind, shop=shop, to=email, values={"product_name": name}, words=words, **given)

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils.translation import gettext

from storefront.catalogue.models import Product, Variant
from storefront.customers.queries import normal_email
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.pods.moves import NOT_MOVING
from storefront.shops.mail import in_language
from storefront.shops.models import Shop
from storefront.shops.spoken import spoken_language
from storefront.stock_alerts import jobs
from storefront.stock_alerts.models import StockAlert

# How long an unconfirmed alert is kept, and how long a confirmed one waits for stock.
UNCONFIRMED, WAITING = timedelta(days=2), timedelta(days=365)
# Alerts of one address in one shop.
MAX_ALERTS = 50


def can_wait_for(product_type: str) -> bool:
    """Returns True if a product of this type has its own stock. The stock of a bundle follows from its items."""
    return product_type in (Product.Type.SIMPLE, Product.Type.VARIABLE)


@transaction.atomic
def ask_for_alert(*, shop: Shop, product_id: int, variant_id: int | None, email: str, now: datetime) -> None:
    """Create an alert for a product or a variant, and mail a confirmation link to the address.

    An alert that is already confirmed stays confirmed. Raises NotFound, and InvalidFields for an address with too many
    alerts.
    """
    product = Product.objects.filter(shop=shop, pk=product_id).first()
    if product is None or not product.is_published(now) or not can_wait_for(product.type):
        raise NotFound
    if (product.type == Product.Type.VARIABLE) != (variant_id is not None):
        raise NotFound
    variants = Variant.objects.filter(shop=shop, product=product, is_active=True)
    if variant_id is not None and not variants.filter(pk=variant_id).exists():
        raise NotFound
    email = normal_email(email)
    existing = StockAlert.objects.filter(shop=shop, email=email)
    if existing.count() >= MAX_ALERTS:
        message = gettext("This address is already waiting for %(count)s products.") % {"count": MAX_ALERTS}
        raise InvalidFields(errors={"email": [message]})
    # Two concurrent requests create one row.
    of: dict[str, Any] = {"shop": shop, "product": product, "variant_id": variant_id, "email": email}
    alert, _ = StockAlert.objects.get_or_create(**of, defaults={"created_at": now, "language": spoken_language(shop)})
    if alert.confirmed_at is None:
        jobs.send_confirmation.enqueue(shop.pk, alert.pk)


def confirm_alert(*, shop: Shop, alert: StockAlert, now: datetime) -> None:
    """Mark the alert as confirmed by the owner of the address. Confirming again changes nothing."""
    StockAlert.objects.filter(shop=shop, pk=alert.pk, confirmed_at=None).update(confirmed_at=now)


def stop_alerts(*, shop: Shop, email: str) -> int:
    """Delete all alerts of this address in the shop, confirmed or not. Returns how many."""
    return StockAlert.objects.filter(shop=shop, email=normal_email(email)).delete()[0]


def waiting(shop: Shop, product_ids: Collection[int]) -> dict[tuple[int, int | None], int]:
    """The number of waiting shoppers, by product and variant id."""
    rows = StockAlert.objects.filter(shop=shop, product__in=product_ids, confirmed_at__isnull=False)
    counts = rows.order_by().values("product", "variant").annotate(count=Count("pk"))
    return {(product, variant): count for product, variant, count in counts.values_list("product", "variant", "count")}


def queue_due_alerts(*, now: datetime, limit: int) -> int:
    """Queue the mails of alerts whose product can be bought again, and delete these alerts. Returns how many. Each
    alert is deleted once, so only one of two workers queues its mail. The alerts of a closed shop wait until it
    opens."""
    published = Q(product__status=Product.Status.ACTIVE, product__deleted_at=None)
    published &= Q(product__publish_at=None) | Q(product__publish_at__lte=now)
    published &= Q(product__unpublish_at=None) | Q(product__unpublish_at__gt=now)
    published &= Q(shop__is_active=True)
    of_product = Q(variant=None) & _sells("product__")
    of_variant = Q(variant__is_active=True) & _sells("variant__")
    due = StockAlert.objects.filter(
        NOT_MOVING, published, of_product | of_variant, confirmed_at__isnull=False, shop__door_password=""
    )
    queued = 0
    for alert in due.order_by("pk")[:limit]:
        with transaction.atomic():
            if StockAlert.objects.filter(shop=alert.shop_id, pk=alert.pk).delete()[0]:
                given = alert.shop_id, alert.product_id, alert.variant_id, alert.email
                jobs.send_alert.enqueue(*given, **in_language(alert.language))
                queued += 1
    return queued


def _sells(of: str) -> Q:
    """Condition: a piece of the related product or variant can be sold."""
    return Q(**{f"{of}track_inventory": False}) | Q(**{f"{of}allow_backorders": True}) | Q(**{f"{of}stock_qty__gt": 0})


def delete_old_alerts(*, now: datetime, limit: int) -> int:
    """Delete alerts that nobody confirmed, and alerts that have waited for too long. Returns how many."""
    old = Q(confirmed_at=None, created_at__lt=now - UNCONFIRMED) | Q(created_at__lt=now - WAITING)
    ids = StockAlert.objects.filter(NOT_MOVING, old, created_at__lt=now - UNCONFIRMED).order_by("created_at")
    return StockAlert.objects.filter(pk__in=list(ids.values_list("pk", flat=True)[:limit])).delete()[0]

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from storefront.catalogue.models import Product, Variant
from storefront.customers.queries import normal_email
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.shops.models import Shop
from storefront.stock_alerts import jobs
from storefront.stock_alerts.models import StockAlert

# How long a request waits to be confirmed, and how long a confirmed one waits for stock.
UNCONFIRMED, WAITING = timedelta(days=2), timedelta(days=365)
# Requests of one address in one shop.
MAX_ALERTS = 50


def can_wait_for(product_type: str) -> bool:
    """Whether a product of this type has stock of its own. A bundle has that of its items."""
    return product_type in (Product.Type.SIMPLE, Product.Type.VARIABLE)


@transaction.atomic
def ask_for_alert(*, shop: Shop, product_id: int, variant_id: int | None, email: str, now: datetime) -> None:
    """Note that somebody waits for a product or a variant, and mail a link to the address to confirm that.

    An alert that is confirmed already stays so. Raises NotFound, and InvalidFields for an address that waits for too
    much.
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
        raise InvalidFields(errors={"email": [f"This address is already waiting for {MAX_ALERTS} products."]})
    # Of two requests at once, one makes the row.
    of: dict[str, Any] = {"shop": shop, "product": product, "variant_id": variant_id, "email": email}
    alert, _ = StockAlert.objects.get_or_create(**of, defaults={"created_at": now})
    if alert.confirmed_at is None:
        jobs.send_confirmation.enqueue(shop.pk, alert.pk)


def confirm_alert(*, shop: Shop, alert: StockAlert, now: datetime) -> None:
    """The owner of the address waits. Confirming again changes nothing."""
    StockAlert.objects.filter(shop=shop, pk=alert.pk, confirmed_at=None).update(confirmed_at=now)


def stop_alerts(*, shop: Shop, email: str) -> int:
    """Delete all that this address waits for in the shop, confirmed or not; returns how many those were."""
    return StockAlert.objects.filter(shop=shop, email=normal_email(email)).delete()[0]


def alerts_of(shop: Shop, email: str) -> list[StockAlert]:
    """What this address waits for in the shop: what an export of a person's data has to contain."""
    rows = StockAlert.objects.filter(shop=shop, email=normal_email(email)).select_related("product", "variant")
    return list(rows.order_by("pk"))


def waiting(shop: Shop, product_ids: Collection[int]) -> dict[tuple[int, int | None], int]:
    """How many shoppers wait, by product and variant id."""
    rows = StockAlert.objects.filter(shop=shop, product__in=product_ids, confirmed_at__isnull=False)
    counts = rows.order_by().values("product", "variant").annotate(count=Count("pk"))
    return {(product, variant): count for product, variant, count in counts.values_list("product", "variant", "count")}


def queue_due_alerts(*, now: datetime, limit: int) -> int:
    """Queue the mails of what can be bought again, and delete these alerts; returns how many. Each is deleted once, so
    of two workers, one queues its mail. Those of a shop whose doors are closed wait until they open."""
    published = Q(product__status=Product.Status.ACTIVE, product__deleted_at=None)
    published &= Q(product__publish_at=None) | Q(product__publish_at__lte=now)
    published &= Q(product__unpublish_at=None) | Q(product__unpublish_at__gt=now)
    published &= Q(shop__is_active=True)
    of_product = Q(variant=None) & _sells("product__")
    of_variant = Q(variant__is_active=True) & _sells("variant__")
    due = StockAlert.objects.filter(
        published, of_product | of_variant, confirmed_at__isnull=False, shop__door_password=""
    )
    queued = 0
    for alert in due.order_by("pk")[:limit]:
        with transaction.atomic():
            if StockAlert.objects.filter(shop=alert.shop_id, pk=alert.pk).delete()[0]:
                jobs.send_alert.enqueue(alert.shop_id, alert.product_id, alert.variant_id, alert.email)
                queued += 1
    return queued


def _sells(of: str) -> Q:
    """Whether a piece of the related product or variant can be sold."""
    return Q(**{f"{of}track_inventory": False}) | Q(**{f"{of}allow_backorders": True}) | Q(**{f"{of}stock_qty__gt": 0})


def delete_old_alerts(*, now: datetime, limit: int) -> int:
    """Delete requests that nobody confirmed, and those that have waited for too long. Returns how many."""
    old = Q(confirmed_at=None, created_at__lt=now - UNCONFIRMED) | Q(created_at__lt=now - WAITING)
    ids = StockAlert.objects.filter(old, created_at__lt=now - UNCONFIRMED).order_by("created_at")
    return StockAlert.objects.filter(pk__in=list(ids.values_list("pk", flat=True)[:limit])).delete()[0]

"""Counts what the operator's list shows of each shop, in the worker: a batch of shops with one query for each figure,
so that the work grows with the shops and not with those who look. Two workers at once count the same, and either's
figures stay."""

from datetime import datetime, timedelta

from django.db.models import Count, F, Q, QuerySet, Sum

from storefront.catalogue.models import Product
from storefront.deployment.models import ShopFigures, ShopLoad
from storefront.orders.models import Order, OrderMail
from storefront.pods.moves import MOVING
from storefront.shops.models import Shop
from storefront.webhooks.models import Delivery, Registration

COUNTED_AGAIN_AFTER = timedelta(minutes=5)
ORDERS_WITHIN, WITHIN = timedelta(days=30), timedelta(days=7)
_COLUMNS = [field.name for field in ShopFigures._meta.concrete_fields if not field.primary_key]


def count_due_shops(*, now: datetime, limit: int) -> int:
    """Count the figures of at most `limit` shops whose last ones are COUNTED_AGAIN_AFTER old, the oldest first. Returns
    how many."""
    due = Q(figures=None) | Q(figures__counted_at__lte=now - COUNTED_AGAIN_AFTER)
    shops = (
        Shop.objects.filter(due).exclude(pk__in=MOVING).order_by(F("figures__counted_at").asc(nulls_first=True), "pk")
    )
    ids = list(shops.values_list("pk", flat=True)[:limit])
    if ids:
        count_shops(ids, now=now)
    return len(ids)


def count_shops(ids: list[int], *, now: datetime) -> None:
    """Count the figures of these shops."""
    load = {
        shop: (requests, milliseconds)
        for shop, requests, milliseconds in ShopLoad.objects.filter(shop__in=ids, day__gt=(now - WITHIN).date())
        .values_list("shop")
        .annotate(Sum("requests"), Sum("milliseconds"))
    }
    counts = {
        "products": _by_shop(Product.objects.filter(shop__in=ids, deleted_at=None)),
        "orders": _by_shop(Order.objects.filter(shop__in=ids, placed_at__gte=now - ORDERS_WITHIN)),
        "failing_webhooks": _by_shop(failing_webhooks(ids)),
        "dead_deliveries": _by_shop(dead_deliveries(ids, now=now)),
        "failed_mails": _by_shop(failed_mails(ids, now=now)),
    }
    rows = [
        ShopFigures(
            shop_id=shop,
            counted_at=now,
            requests=load.get(shop, (0, 0))[0],
            milliseconds=load.get(shop, (0, 0))[1],
            **{name: found.get(shop, 0) for name, found in counts.items()},
        )
        for shop in sorted(ids)
    ]
    ShopFigures.objects.bulk_create(rows, update_conflicts=True, unique_fields=["shop"], update_fields=_COLUMNS)


def failing_webhooks(ids: list[int]) -> QuerySet[Registration]:
    """Webhooks of these shops that are paused, or whose last attempts failed."""
    return Registration.objects.filter(Q(is_active=False) | Q(failing_since__isnull=False), shop__in=ids)


def dead_deliveries(ids: list[int], *, now: datetime) -> QuerySet[Delivery]:
    """Deliveries of these shops that were given up lately. By installation, which the index of them begins with."""
    dead = Delivery.objects.filter(status=Delivery.Status.DEAD, ended_at__gte=now - WITHIN)
    return dead.filter(installation__shop__in=ids)


def failed_mails(ids: list[int], *, now: datetime) -> QuerySet[OrderMail]:
    """Mails about orders of these shops that were given up lately."""
    return OrderMail.objects.filter(shop__in=ids, failed_at__gte=now - WITHIN)


def _by_shop(rows: QuerySet) -> dict[int, int]:
    return dict(rows.order_by().values_list("shop").annotate(Count("pk")))

"""What a merchant sees first: how sales go, what waits, what runs out."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Count, F, QuerySet, Sum
from django.http import HttpRequest

from storefront.catalogue.models import Product, Variant
from storefront.kit.format import format_count, format_money, format_time
from storefront.orders.models import Order
from storefront.shops.models import Shop
from storefront.webhooks.queries import paused_webhooks

SALES_DAYS = 30
NEWEST = 8
SHORTEST = 8
MOST_PAUSED = 5


def sales(shop: Shop, now: datetime) -> dict[str, Any]:
    """Count and sum of what was sold in the last 30 days, in the shop's currency; cancelled orders left out."""
    placed = Order.objects.filter(shop=shop, currency=shop.currency, placed_at__gt=now - timedelta(days=SALES_DAYS))
    return placed.exclude(status=Order.Status.CANCELLED).aggregate(count=Count("pk"), total=Sum("total", default=0))


def orders_to_fulfil(shop: Shop) -> QuerySet[Order]:
    return Order.objects.filter(shop=shop, status=Order.Status.OPEN)


def newest_orders(shop: Shop) -> QuerySet[Order]:
    return Order.objects.filter(shop=shop).order_by("-placed_at", "-id")[:NEWEST]


def low_products(shop: Shop) -> QuerySet[Product]:
    """What is sold by its own stock and has come down to its threshold, least first."""
    sold = Product.objects.filter(shop=shop, deleted_at=None, status=Product.Status.ACTIVE, track_inventory=True)
    return sold.exclude(type__in=["variable", "bundle"]).filter(stock_qty__lte=F("low_stock_threshold"))


def low_variants(shop: Shop) -> QuerySet[Variant]:
    sold = Variant.objects.filter(shop=shop, is_active=True, track_inventory=True, product__deleted_at=None)
    return sold.filter(product__status=Product.Status.ACTIVE, stock_qty__lte=F("product__low_stock_threshold"))


def show(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Fill the admin's start page."""
    shop, now = request.shop, request.now  # type: ignore[attr-defined]
    sold, products, variants = sales(shop, now), low_products(shop), low_variants(shop)
    for paused in paused_webhooks(shop)[:MOST_PAUSED]:
        reason = paused.get_pause_reason_display()
        messages.warning(request, f"{paused.installation}’s webhook for {paused.topic} is paused: {reason}.")
    context["title"] = "Home"
    context["figures"] = [
        ("Sales in 30 days", format_money(sold["total"], shop.currency)),
        ("Orders in 30 days", format_count(sold["count"])),
        ("Orders to fulfil", format_count(orders_to_fulfil(shop).count())),
        ("Low in stock", format_count(products.count() + variants.count())),
    ]
    context["newest_orders"] = [
        {
            "row": order,
            "total": format_money(order.total, order.currency),
            "placed": format_time(order.placed_at, shop.timezone),
        }
        for order in newest_orders(shop)
    ]
    context["running_out"] = _running_out(products, variants)
    return context


def _running_out(products: QuerySet[Product], variants: QuerySet[Variant]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"page": "admin:catalogue_product_change", "id": row.pk, "name": row.name, "left": row.stock_qty}
        for row in products.order_by("stock_qty", "id")[:SHORTEST]
    ]
    rows += [
        {
            "page": "admin:catalogue_variant_change",
            "id": row.pk,
            "name": f"{row.product.name}, {row.name}",
            "left": row.stock_qty,
        }
        for row in variants.select_related("product").order_by("stock_qty", "id")[:SHORTEST]
    ]
    return sorted(rows, key=lambda row: row["left"])[:SHORTEST]

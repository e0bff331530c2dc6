"""The admin's start page: sales, orders to fulfil, low stock."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Count, F, QuerySet, Sum

from storefront.catalogue.models import Product, Variant
from storefront.kit.format import format_count, format_money, format_time
from storefront.orders.models import Order
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.webhooks.queries import paused_webhooks

SALES_DAYS = 30
NEWEST = 8
SHORTEST = 8
MOST_PAUSED = 5


def sales(shop: Shop, now: datetime) -> dict[str, Any]:
    """`count` and `total` of the orders of the last 30 days in the shop's currency, without cancelled ones."""
    placed = Order.objects.filter(shop=shop, currency=shop.currency, placed_at__gt=now - timedelta(days=SALES_DAYS))
    return placed.exclude(status=Order.Status.CANCELLED).aggregate(count=Count("pk"), total=Sum("total", default=0))


def orders_to_fulfil(shop: Shop) -> QuerySet[Order]:
    return Order.objects.filter(shop=shop, status=Order.Status.OPEN)


def newest_orders(shop: Shop) -> QuerySet[Order]:
    return Order.objects.filter(shop=shop).order_by("-placed_at", "-id")[:NEWEST]


def low_products(shop: Shop) -> QuerySet[Product]:
    """Active products whose own stock is at or below their threshold. Variants are in `low_variants`."""
    sold = Product.objects.filter(shop=shop, deleted_at=None, status=Product.Status.ACTIVE, track_inventory=True)
    return sold.exclude(type__in=["variable", "bundle"]).filter(stock_qty__lte=F("low_stock_threshold"))


def low_variants(shop: Shop) -> QuerySet[Variant]:
    sold = Variant.objects.filter(shop=shop, is_active=True, track_inventory=True, product__deleted_at=None)
    return sold.filter(product__status=Product.Status.ACTIVE, stock_qty__lte=F("product__low_stock_threshold"))


def show(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what the user's role may see."""
    shop, rights = request.shop, request.rights
    context["title"] = "Home"
    context["figures"] = []
    if Right.MANAGE_WEBHOOKS in rights:
        _warn_of_paused(request)
    if Right.SEE_FIGURES in rights:
        sold = sales(shop, request.now)
        context["figures"] += [
            ("Sales in 30 days", format_money(sold["total"], shop.currency)),
            ("Orders in 30 days", format_count(sold["count"])),
        ]
    if Right.VIEW_ORDERS in rights:
        context["figures"].append(("Orders to fulfil", format_count(orders_to_fulfil(shop).count())))
        context["newest_orders"] = _newest(shop)
    if Right.VIEW_PRODUCTS in rights:
        products, variants = low_products(shop), low_variants(shop)
        context["figures"].append(("Low stock", format_count(products.count() + variants.count())))
        context["running_out"] = _lowest_stock(products, variants)
    return context


def _warn_of_paused(request: Any) -> None:
    for paused in paused_webhooks(request.shop)[:MOST_PAUSED]:
        reason = paused.get_pause_reason_display()
        messages.warning(request, f"{paused.installation}’s webhook for {paused.topic} is paused: {reason}.")


def _newest(shop: Shop) -> list[dict[str, Any]]:
    return [
        {
            "row": order,
            "total": format_money(order.total, order.currency),
            "placed": format_time(order.placed_at, shop.timezone),
        }
        for order in newest_orders(shop)
    ]


def _lowest_stock(products: QuerySet[Product], variants: QuerySet[Variant]) -> list[dict[str, Any]]:
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

"""The admin's start page: sales figures of a period, to-do list, recent orders, low stock.

`checkout/dashboard.py`, which the theme calls, adds to it.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib import messages
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from storefront.catalogue.models import Product, Variant
from storefront.kit.format import format_count, format_money, format_time
from storefront.orders import figures
from storefront.orders.admin_page import ERASED, badges
from storefront.orders.chart import bar_chart
from storefront.orders.figures import Period
from storefront.orders.models import Order
from storefront.orders.sending import to_print, to_send_now
from storefront.orders.sent_mails import with_failed_mail
from storefront.shops.models import Shop
from storefront.shops.replica_reads import figures as figures_of
from storefront.shops.rights import Right
from storefront.webhooks.queries import paused_webhooks

LISTED = 5
MAX_PAUSED = 5
# Rows beyond this number are not counted.
MAX_COUNTED = 1000


def show(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what the user's role may see."""
    shop, rights, now = request.shop, request.rights, request.now
    context |= {"title": _("Home"), "shop": shop, "figures": [], "to_do": []}
    if Right.MANAGE_WEBHOOKS in rights:
        _warn_of_paused(request)
    if Right.SEE_FIGURES in rights:
        period = figures.chosen_period(shop, request.GET, now)
        context |= {"period": period, "periods": figures.NAMES, "timezone": shop.timezone} | figures_of(
            shop, partial(sales, shop, period)
        )
        context |= {"given_from": request.GET.get("from", ""), "given_to": request.GET.get("to", "")}
        context["may_see_products"] = Right.VIEW_PRODUCTS in rights
        context["best_sellers"] = [
            row | {"total": format_money(row["total"], shop.currency)}
            for row in figures_of(shop, partial(figures.best_sellers, shop, period))
        ]
    if Right.VIEW_ORDERS in rights:
        orders = reverse("admin:orders_order_changelist")
        unprinted = to_print(Order.objects.filter(shop=shop), now)
        to_send, unpaid = orders_to_send(shop, now), figures.unpaid(shop)
        newest = list(Order.objects.filter(shop=shop).order_by("-placed_at", "-id")[:LISTED])
        context["to_do"] += [
            to_do(to_send, _("order to send"), _("orders to send"), f"{orders}?view=to_send"),
            to_do(unprinted, _("order to print"), _("orders to print"), f"{orders}?view=to_print"),
            to_do(unpaid, _("unpaid order"), _("unpaid orders"), f"{orders}?view=unpaid"),
            to_do(
                with_failed_mail(Order.objects.filter(shop=shop), shop, now),
                _("order with an email that could not be sent"),
                _("orders with emails that could not be sent"),
                f"{orders}?view=mail_failed",
            ),
        ]
        context["nothing_to_do"] = not any(each["count"] for each in context["to_do"])
        context["has_no_orders"] = not newest
        if newest:
            context["lists"] = [
                (_("To send"), _rows(shop, to_send.order_by("placed_at", "id")[:LISTED]), _("Nothing to send.")),
                (_("Unpaid"), _rows(shop, unpaid.order_by("-placed_at", "-id")[:LISTED]), _("Everything is paid.")),
                (_("Recent orders"), _rows(shop, newest), ""),
            ]
    if Right.VIEW_PRODUCTS in rights:
        products, variants = low_products(shop, now), low_variants(shop, now)
        low = list(products.values_list("pk")[:MAX_COUNTED]), list(variants.values_list("pk")[:MAX_COUNTED])
        context["low_stock"] = _counted(len(low[0]) + len(low[1]))
        context["running_out"] = _lowest_stock(products, variants)
    return context


def sales(shop: Shop, period: Period) -> dict[str, Any]:
    """The figures of the period and of the previous one, and its development as chart and table."""
    course, before = period.spans, period.before.spans
    parts = figures.sold_in(shop, [*course, *before])
    now, then = figures.together(parts[: len(course)]), figures.together(parts[len(course) :])
    amounts = [(now.total, then.total, _("Sales")), (now.average, then.average, _("Average order"))]
    shown = [
        (name, format_money(one, shop.currency), format_money(other, shop.currency), figures.change_text(one, other))
        for one, other, name in amounts
    ]
    change = figures.change_text(now.count, then.count)
    shown.insert(1, (_("Orders"), format_count(now.count), format_count(then.count), change))
    labels, drawn = period.labels, parts[: len(course)]
    totals = [format_money(part.total, shop.currency) for part in drawn]
    rows = [
        {"label": label, "total": total, "count": format_count(part.count)}
        for label, total, part in zip(labels, totals, drawn, strict=True)
    ]
    chart = bar_chart([part.total for part in drawn], labels, totals, shop.currency)
    return {"figures": shown, "course": rows, "chart": chart}


def to_do(rows: QuerySet[Any], one: str, many: str, url: str) -> dict[str, str]:
    """An entry of the to-do list; `count` is empty if there is nothing to do."""
    count = len(rows.order_by().values_list("pk", flat=True)[:MAX_COUNTED])
    return {"count": _counted(count) if count else "", "text": one if count == 1 else many, "url": url}


def orders_to_send(shop: Shop, now: datetime) -> QuerySet[Order]:
    """Open orders with something to send now. Pre-orders wait for their date."""
    return to_send_now(Order.objects.filter(shop=shop, status=Order.Status.OPEN), now)


def low_products(shop: Shop, now: datetime) -> QuerySet[Product]:
    """Active products whose own stock is at or below their threshold, without pre-orders. Variants are in
    `low_variants`."""
    sold = Product.objects.filter(shop=shop, deleted_at=None, status=Product.Status.ACTIVE, track_inventory=True)
    sold = sold.exclude(type__in=["variable", "bundle"]).exclude(is_preorder=True)
    return sold.filter(Q(available_from=None) | Q(available_from__lte=now), stock_qty__lte=F("low_stock_threshold"))


def low_variants(shop: Shop, now: datetime) -> QuerySet[Variant]:
    sold = Variant.objects.filter(shop=shop, is_active=True, track_inventory=True, product__deleted_at=None)
    sold = sold.filter(product__status=Product.Status.ACTIVE, product__is_preorder=False)
    due = Q(product__available_from=None) | Q(product__available_from__lte=now)
    return sold.filter(due, stock_qty__lte=F("product__low_stock_threshold"))


def _counted(count: int) -> str:
    return format_count(count) if count < MAX_COUNTED else _("%(count)s or more") % {"count": format_count(MAX_COUNTED)}


def _warn_of_paused(request: Any) -> None:
    for paused in paused_webhooks(request.shop)[:MAX_PAUSED]:
        reason = paused.get_pause_reason_display()
        messages.warning(
            request,
            _("%(installation)s’s webhook for %(topic)s is paused: %(reason)s.")
            % {"installation": paused.installation, "topic": paused.topic, "reason": reason},
        )


def _rows(shop: Shop, orders: Iterable[Order]) -> list[dict[str, Any]]:
    return [
        {
            "row": order,
            "who": (order.billing_address or {}).get("name") or order.email or ERASED,
            "total": format_money(order.total, order.currency),
            "placed": format_time(order.placed_at, shop.timezone),
            "badges": badges(order),
        }
        for order in orders
    ]


def _lowest_stock(products: QuerySet[Product], variants: QuerySet[Variant]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"page": "admin:catalogue_product_change", "id": row.pk, "name": row.name, "left": row.stock_qty}
        for row in products.order_by("stock_qty", "id")[:LISTED]
    ]
    rows += [
        {
            "page": "admin:catalogue_variant_change",
            "id": row.pk,
            "name": f"{row.product.name}, {row.name}",
            "left": row.stock_qty,
        }
        for row in variants.select_related("product").order_by("stock_qty", "id")[:LISTED]
    ]
    return sorted(rows, key=lambda row: row["left"])[:LISTED]

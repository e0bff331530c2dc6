"""Writes the beginning and end of sale prices and pre-orders into the rows when their date has come. The worker runs
this every second."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from storefront.catalogue import auditing, events
from storefront.catalogue.dated.dates import SALE_TURNS, turns_at
from storefront.catalogue.dated.sale_periods import COLUMNS, end_preorder, settle
from storefront.catalogue.models import Product, Variant
from storefront.pods.moves import NOT_MOVING
from storefront.shops.changes import publish_change


def turn_due(*, now: datetime, limit: int) -> int:
    """Write due beginnings and ends of sale prices, and ends of pre-orders, of at most `limit` products and variants.
    Returns their number.

    Safe to run in two workers at once, and during an editor's save: each product is locked, and then read again.
    """
    due: dict[int, set[int]] = defaultdict(set)
    products = _due_rows(Product, "pk", (*SALE_TURNS, "available_from"), now, limit)
    for shop, product in [*products, *_due_rows(Variant, "product_id", SALE_TURNS, now, limit)]:
        due[shop].add(product)
    return sum(_turn(shop, sorted(found)[:limit], now) for shop, found in sorted(due.items()))


def _due_rows(model: Any, product: str, columns: Iterable[str], now: datetime, limit: int) -> list[tuple[int, int]]:
    found = []
    for column in columns:
        rows = model.objects.filter(NOT_MOVING, turns_at(column), **{f"{column}__lte": now})
        found += rows.order_by(column).values_list("shop_id", product)[:limit]
    return found


@transaction.atomic
def _turn(shop_id: int, ids: list[int], now: datetime) -> int:
    """Settle these products and their variants. Returns how many rows changed."""
    locked = Product.objects.select_for_update(no_key=True, of=("self",)).select_related("shop")
    products = list(locked.filter(shop=shop_id, pk__in=ids).order_by("pk"))
    if not products:
        return 0
    shop, found = products[0].shop, [product.pk for product in products]
    with_sale = Q(sale_price__isnull=False) | Q(regular_compare_price__isnull=False)
    # The product is locked before its variants, as everywhere that locks both.
    variants = Variant.objects.select_for_update(no_key=True).filter(with_sale, shop=shop, product__in=found)
    before, changed = events.take_snapshot(shop, found), 0
    touched = set()
    for variant in variants.order_by("pk"):
        if settle(variant, now):
            variant.updated_at = now
            variant.save(update_fields=[*COLUMNS, "updated_at"])
            touched.add(variant.product_id)
            changed += 1
    for product in products:
        has_new_price, is_available = settle(product, now), end_preorder(product, now)
        changed += has_new_price + is_available
        if has_new_price or is_available or product.pk in touched:
            # The product's `updated_at` changes with its variants, too, since `updated_since` filters by it.
            product.updated_at = now
            product.save(update_fields=[*COLUMNS, "is_preorder", "available_from", "updated_at"])
    if changed:
        living = [product.pk for product in products if product.deleted_at is None]
        after = events.emit_changes(shop, before, living, now)
        auditing.record_products(shop, before, after, living, now=now)
        publish_change(shop.pk)
    return changed

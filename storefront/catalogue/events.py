"""Emits the events of products and their stock (R-HOOK-1, R-HOOK-6).

Changes are found by comparing what apps could read before a write with what they can read after it. So a write that
changes nothing emits nothing, and a change of stock emits `inventory.updated` alone: a sale does not change the
product. Both reads belong to the transaction of the write and need its rows locked.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from storefront.catalogue.app_queries import Record, stored_products
from storefront.catalogue.inventory.queries import Item, stock_of
from storefront.catalogue.models import Variant
from storefront.installations.models import Installation
from storefront.kit.clock import timestamp
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_events

# Products whose records are in memory at the same time.
BATCH_ROWS = 500
# Members whose change emits no `product.updated`.
_STOCK = {"stock_qty", "damaged_qty", "updated_at"}


@dataclass(frozen=True)
class Snapshot:
    """Everything that apps can read of some products: their records by product id, and their stock by item id. For the
    audit log also the cost prices of their variants by variant id, which apps cannot read."""

    products: dict[int, Record] = field(default_factory=dict)
    stock: dict[str, Item] = field(default_factory=dict)
    costs: dict[int, Decimal | None] = field(default_factory=dict)


def take_snapshot(shop: Shop, products: Collection[int]) -> Snapshot:
    """Take a snapshot of these products at this moment."""
    records = stored_products(shop, products)
    variants = [variant["id"] for record in records.values() for variant in record["variants"]]
    costs = Variant.objects.filter(shop=shop, pk__in=variants).values_list("pk", "cost_price") if variants else ()
    return Snapshot(records, stock_of(shop, products), dict(costs))


@contextmanager
def emitting_changes(shop: Shop, *products: int, now: datetime) -> Iterator[Snapshot]:
    """Emit the changes that the block makes to these products, which must be locked. Yields the state before."""
    before = take_snapshot(shop, products)
    yield before
    emit_changes(shop, before, products, now)


def emit_changes(shop: Shop, before: Snapshot, products: Collection[int], now: datetime) -> Snapshot:
    """Emit events for the differences of these products and their stock from `before`. Returns their state now."""
    after = take_snapshot(shop, products)
    happened = []
    for id in products:
        event = _product_event(before.products.get(id), after.products.get(id), now)
        happened += [event] if event else []
    happened += [
        ("inventory.updated", item)
        for key, item in after.stock.items()
        if _without(before.stock.get(key), {"updated_at"}) != _without(item, {"updated_at"})
    ]
    _record(shop, happened, now)
    return after


def emit_updated(shop: Shop, products: Collection[int], now: datetime) -> None:
    """Emit `product.updated` for products that have changed, apart from their stock, in the given order."""
    records = stored_products(shop, products)
    _record(shop, [("product.updated", records[id]) for id in products if id in records], now)


def emit_item_changes(shop: Shop, items: Mapping[str, Item], now: datetime) -> None:
    """Emit `inventory.updated` for stock that has changed, by one write for any number of items."""
    _record(shop, [("inventory.updated", item) for item in items.values()], now)


def emit_created(shop: Shop, products: Collection[int], now: datetime) -> None:
    """Emit the events of new products from a file, if an app is installed (R-HOOK-20): a million events without a
    reader would take longer to write than the products."""
    if not has_apps(shop):
        return
    ids = list(products)
    for start in range(0, len(ids), BATCH_ROWS):
        emit_changes(shop, Snapshot(), ids[start : start + BATCH_ROWS], now)


def has_apps(shop: Shop) -> bool:
    """Returns True if any app is installed in the shop."""
    return Installation.objects.filter(shop=shop, uninstalled_at=None).exists()


def _product_event(before: Record | None, after: Record | None, now: datetime) -> tuple[str, Record] | None:
    """The topic and record of the event for this difference, if any."""
    if after is None:
        # The last record of the product.
        deletion = {"deleted_at": timestamp(now), "updated_at": timestamp(now)}
        return ("product.deleted", before | deletion) if before else None
    if before is None:
        return "product.created", after
    return ("product.updated", after) if _without_stock(before) != _without_stock(after) else None


def _without_stock(record: Record) -> dict[str, Any]:
    variants = [_without(variant, _STOCK) for variant in record["variants"]]
    return _without(record, _STOCK) | {"variants": variants}


def _without(record: Record | None, members: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in (record or {}).items() if name not in members}


def _record(shop: Shop, happened: list[tuple[str, dict[str, Any]]], now: datetime) -> None:
    if happened:
        record_events(shop=shop, events=happened, now=now)

"""What apps are told of products and their stock, whoever changes them (decisions: Topics).

What to tell is found by comparing what apps could read before a write with what they can read after it. So a write
that changed nothing tells nothing, and stock is told of by `inventory.updated` alone: a sale is no change of the
product. Both belong into the transaction of the write, whose rows are locked by then.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from storefront.apps.models import Installation
from storefront.catalogue.app_queries import Record, whole_products
from storefront.catalogue.inventory import Item, stock_of
from storefront.kit.clock import timestamp
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_events

# Products of which the records are held in memory at once.
BATCH = 500
# What makes no difference to a product, or is told of as stock.
_STOCK = {"stock_qty", "damaged_qty", "updated_at"}


@dataclass(frozen=True)
class Known:
    """What apps can read of some products: their records by product id, and their stock by item id."""

    products: dict[int, Record] = field(default_factory=dict)
    stock: dict[str, Item] = field(default_factory=dict)


def known(shop: Shop, products: Collection[int]) -> Known:
    """What apps can read of these products at this moment."""
    return Known(whole_products(shop, products), stock_of(shop, products))


@contextmanager
def told(shop: Shop, *products: int, now: datetime) -> Iterator[None]:
    """Tell apps what a write to these products, which stand locked, has changed."""
    before = known(shop, products)
    yield
    tell(shop, before, products, now)


def tell(shop: Shop, before: Known, products: Collection[int], now: datetime) -> None:
    """Tell apps how these products and their stock differ from what they were."""
    after = known(shop, products)
    happened = []
    for id in products:
        told = _told_of(before.products.get(id), after.products.get(id), now)
        happened += [told] if told else []
    happened += [
        ("inventory.updated", item)
        for key, item in after.stock.items()
        if _apart_from(before.stock.get(key), {"updated_at"}) != _apart_from(item, {"updated_at"})
    ]
    _record(shop, happened, now)


def tell_of_change(shop: Shop, products: Collection[int], now: datetime) -> None:
    """Tell apps of products that are known to have changed, and their stock not."""
    records = whole_products(shop, products)
    _record(shop, [("product.updated", record) for record in records.values()], now)


def tell_of_stock(shop: Shop, products: Collection[int], variants: Collection[int], now: datetime) -> None:
    """Tell apps of stock that is known to have changed: one read and one write, however many rows it is."""
    tell_of_items(shop, stock_of(shop, products, variants), now)


def tell_of_items(shop: Shop, items: Mapping[str, Item], now: datetime) -> None:
    _record(shop, [("inventory.updated", item) for item in items.values()], now)


def tell_of_import(shop: Shop, products: Collection[int], now: datetime) -> None:
    """Tell of new products that came by a file, if an app is there to hear of them: a million events that nobody
    reads would take longer to write than the products."""
    if not has_apps(shop):
        return
    ids = list(products)
    for start in range(0, len(ids), BATCH):
        tell(shop, Known(), ids[start : start + BATCH], now)


def has_apps(shop: Shop) -> bool:
    """Whether any app is installed in the shop."""
    return Installation.objects.filter(shop=shop, uninstalled_at=None).exists()


def _told_of(before: Record | None, after: Record | None, now: datetime) -> tuple[str, Record] | None:
    if after is None:
        # What it was to the last.
        gone = {"deleted_at": timestamp(now), "updated_at": timestamp(now)}
        return ("product.deleted", before | gone) if before else None
    if before is None:
        return "product.created", after
    return ("product.updated", after) if _without_stock(before) != _without_stock(after) else None


def _without_stock(record: Record) -> dict[str, Any]:
    variants = [_apart_from(variant, _STOCK) for variant in record["variants"]]
    return _apart_from(record, _STOCK) | {"variants": variants}


def _apart_from(record: Record | None, members: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in (record or {}).items() if name not in members}


def _record(shop: Shop, happened: list[tuple[str, dict[str, Any]]], now: datetime) -> None:
    if happened:
        record_events(shop=shop, happened=happened, now=now)

"""Takes stock for orders and puts it back: by conditional updates, rows in a fixed order (R-CART-33)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import connection, transaction
from django.db.models import Model, QuerySet

from storefront.catalogue import events
from storefront.catalogue.inventory import CHANGED_PRODUCT, CHANGED_VARIANT, Item, changed_item, stock_of
from storefront.catalogue.ledger import Kind as StockKind
from storefront.catalogue.ledger import stock_changes
from storefront.catalogue.models import Product, Variant
from storefront.kit.refusals import Refusal
from storefront.kit.sql import fetch
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

Kind = Literal["product", "variant", "damaged"]

# Every sale locks rows in this order, then by id, so that sales cannot deadlock. "damaged" is a column of the product's
# row, so it has the same position.
_TABLE_ORDER: dict[Kind, int] = {"product": 0, "damaged": 0, "variant": 1}


def _update(kind: Kind, sign: str, condition: str = "") -> str:
    """The statement that changes a stock by a quantity where the condition holds."""
    table, returned = ("variant", CHANGED_VARIANT) if kind == "variant" else ("product", CHANGED_PRODUCT)
    return (
        f"UPDATE catalogue_{table} SET {_column(kind)} = {_column(kind)} {sign} %(qty)s, updated_at = %(now)s"  # noqa: S608, built from names in this file
        f" WHERE shop_id = %(shop)s AND id = %(id)s{condition} {returned}"
    )


def _column(kind: Kind) -> str:
    return "damaged_qty" if kind == "damaged" else "stock_qty"


_ENOUGH = " AND track_inventory AND (stock_qty >= %(qty)s OR allow_backorders)"
_TAKE: dict[Kind, str] = {
    "product": _update("product", "-", _ENOUGH),
    "variant": _update("variant", "-", _ENOUGH),
    "damaged": _update("damaged", "-", " AND damaged_qty >= %(qty)s"),
}
_PUT_BACK: dict[Kind, str] = {kind: _update(kind, "+") for kind in _TAKE}


@dataclass(frozen=True)
class StockUse:
    """A quantity of one stock: of a product, a variant, or a product's damaged units."""

    kind: Kind
    id: int
    qty: int


class InsufficientStock(Refusal):
    """Less stock than requested (R-CART-31). `use` is the stock that is short, `available` the quantity left."""

    code, field = "insufficient_stock", "qty"
    message = "Not enough stock."

    def __init__(self, message: str | None = None, *, available: int, use: StockUse | None = None) -> None:
        super().__init__(message, available=available)
        self.available, self.use = available, use


@transaction.atomic
def take_stock(*, shop: Shop, uses: Iterable[StockUse], now: datetime, reference: str = "") -> list[StockUse]:
    """Take all of these quantities or none. Returns the stocks that were lowered. `reference` is what the ledger names.

    Stock that is not tracked is not lowered, so it is not in the result. With backorders, stock can fall below zero.
    Raises InsufficientStock for the first stock that is short; the caller's transaction must then end.
    """
    taken: list[StockUse] = []
    items: dict[str, Item] = {}
    with stock_changes(StockKind.SOLD, reference=reference, now=now):
        for use in _in_lock_order(uses):
            changed = _change(_TAKE, shop, use, now)
            if changed is not None:
                taken.append(use)
                items |= changed
            elif not _is_untracked(shop, use):
                raise InsufficientStock(available=available(shop, use), use=use)
    events.emit_item_changes(shop, items, now)
    publish_change(shop.pk)
    return taken


@transaction.atomic
def put_back_stock(
    *, shop: Shop, uses: Iterable[StockUse], now: datetime, reference: str = "", reason: str = ""
) -> None:
    """Raise the stocks that `take_stock` lowered. Rows that were deleted since are skipped. The ledger names
    `reference` and `reason`."""
    items: dict[str, Item] = {}
    with stock_changes(StockKind.RETURNED, reference=reference, reason=reason, now=now):
        for use in _in_lock_order(uses):
            items |= _change(_PUT_BACK, shop, use, now) or {}
    events.emit_item_changes(shop, items, now)
    publish_change(shop.pk)


def available(shop: Shop, use: StockUse) -> int:
    """The quantity that the stock has left to sell now, at least zero."""
    left = _rows(shop, use).values_list(_column(use.kind), flat=True).first()
    return max(left or 0, 0)


def _in_lock_order(uses: Iterable[StockUse]) -> list[StockUse]:
    totals: Counter[tuple[Kind, int]] = Counter()
    for use in uses:
        totals[use.kind, use.id] += use.qty
    merged = [StockUse(kind, id, qty) for (kind, id), qty in totals.items() if qty > 0]
    return sorted(merged, key=lambda use: (_TABLE_ORDER[use.kind], use.id, use.kind))


def _change(statements: dict[Kind, str], shop: Shop, use: StockUse, now: datetime) -> dict[str, Item] | None:
    """Run the statement for this stock. Returns the items that show it, by id, or None if no row was changed."""
    moment = connection.ops.adapt_datetimefield_value(now)
    rows = fetch(connection, statements[use.kind], {"shop": shop.pk, "id": use.id, "qty": use.qty, "now": moment})
    if not rows:
        return None
    ((deleted_at, has_variants, *row),) = rows
    if deleted_at is not None:
        return {}
    # A product's damaged units are shown by each of its variants.
    return stock_of(shop, [use.id]) if has_variants else changed_item(row, now)


def _is_untracked(shop: Shop, use: StockUse) -> bool:
    return use.kind != "damaged" and _rows(shop, use).filter(track_inventory=False).exists()


def _rows(shop: Shop, use: StockUse) -> QuerySet[Model]:
    model: type[Product] | type[Variant] = Variant if use.kind == "variant" else Product
    return model.objects.filter(shop=shop, pk=use.id)

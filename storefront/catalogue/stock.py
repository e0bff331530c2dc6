"""Takes stock for orders and puts it back: by conditional updates, rows in a fixed order (R-CART-33)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import transaction
from django.db.models import F, Model, Q, QuerySet

from storefront.catalogue import events
from storefront.catalogue.models import Product, Variant
from storefront.kit.refusals import Refusal
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

Kind = Literal["product", "variant", "damaged"]

# Every sale locks rows in this order, then by id, so that sales cannot deadlock. "damaged" is a column of the product's
# row, so it has the same position.
_TABLE_ORDER: dict[Kind, int] = {"product": 0, "damaged": 0, "variant": 1}


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
def take_stock(*, shop: Shop, uses: Iterable[StockUse], now: datetime) -> list[StockUse]:
    """Take all of these quantities or none. Returns the stocks that were lowered.

    Stock that is not tracked is not lowered, so it is not in the result. With backorders, stock can fall below zero.
    Raises InsufficientStock for the first stock that is short; the caller's transaction must then end.
    """
    taken = []
    for use in _in_lock_order(uses):
        if _lower(shop, use, now):
            taken.append(use)
        elif not _is_untracked(shop, use):
            raise InsufficientStock(available=available(shop, use), use=use)
    _emit_changes(shop, taken, now)
    publish_change(shop.pk)
    return taken


@transaction.atomic
def put_back_stock(*, shop: Shop, uses: Iterable[StockUse], now: datetime) -> None:
    """Raise the stocks that `take_stock` lowered. Rows that were deleted since are skipped."""
    raised = _in_lock_order(uses)
    for use in raised:
        column = _column(use)
        _rows(shop, use).update(**{column: F(column) + use.qty}, updated_at=now)
    _emit_changes(shop, raised, now)
    publish_change(shop.pk)


def available(shop: Shop, use: StockUse) -> int:
    """The quantity that the stock has left to sell now, at least zero."""
    left = _rows(shop, use).values_list(_column(use), flat=True).first()
    return max(left or 0, 0)


def _emit_changes(shop: Shop, uses: list[StockUse], now: datetime) -> None:
    variants = {use.id for use in uses if use.kind == "variant"}
    events.emit_stock_changes(shop, {use.id for use in uses if use.kind != "variant"}, variants, now)


def _in_lock_order(uses: Iterable[StockUse]) -> list[StockUse]:
    totals: Counter[tuple[Kind, int]] = Counter()
    for use in uses:
        totals[use.kind, use.id] += use.qty
    merged = [StockUse(kind, id, qty) for (kind, id), qty in totals.items() if qty > 0]
    return sorted(merged, key=lambda use: (_TABLE_ORDER[use.kind], use.id, use.kind))


def _lower(shop: Shop, use: StockUse, now: datetime) -> bool:
    column = _column(use)
    enough = Q(**{f"{column}__gte": use.qty})
    if use.kind != "damaged":
        enough = Q(track_inventory=True) & (enough | Q(allow_backorders=True))
    changed = _rows(shop, use).filter(enough).update(**{column: F(column) - use.qty}, updated_at=now)
    return changed == 1


def _is_untracked(shop: Shop, use: StockUse) -> bool:
    return use.kind != "damaged" and _rows(shop, use).filter(track_inventory=False).exists()


def _column(use: StockUse) -> str:
    return "damaged_qty" if use.kind == "damaged" else "stock_qty"


def _rows(shop: Shop, use: StockUse) -> QuerySet[Model]:
    model: type[Product] | type[Variant] = Variant if use.kind == "variant" else Product
    return model.objects.filter(shop=shop, pk=use.id)

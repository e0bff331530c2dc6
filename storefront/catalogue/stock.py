"""Stock leaves and comes back here and nowhere else while selling: by conditional updates, rows in a fixed order."""

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
from storefront.shops.changes import changed
from storefront.shops.models import Shop

Kind = Literal["product", "variant", "damaged"]

# Rows of every sale are locked in this order, then by id, so that two sales never wait for each other in a circle.
# "damaged" counts pieces of a product's row too, so it shares that row's place.
_TABLE_ORDER: dict[Kind, int] = {"product": 0, "damaged": 0, "variant": 1}


@dataclass(frozen=True)
class StockUse:
    """So many pieces of one stock: a product's, a variant's, or a product's damaged pieces."""

    kind: Kind
    id: int
    qty: int


class InsufficientStock(Refusal):
    """Fewer are left than were asked for. `use` is the stock that is short, `available` what it still has."""

    code, field = "insufficient_stock", "qty"
    message = "Not enough of it is left."

    def __init__(self, message: str | None = None, *, available: int, use: StockUse | None = None) -> None:
        super().__init__(message, available=available)
        self.available, self.use = available, use


@transaction.atomic
def take_stock(*, shop: Shop, uses: Iterable[StockUse], now: datetime) -> list[StockUse]:
    """Take all of these pieces or none, and say which stocks were lowered.

    What is not tracked sells without being counted, so it is not among the answer. Backordered stock passes below
    zero. Raises InsufficientStock for the first stock that is short; the caller's transaction must then end.
    """
    taken = []
    for use in _in_lock_order(uses):
        if _lower(shop, use, now):
            taken.append(use)
        elif not _sells_uncounted(shop, use):
            raise InsufficientStock(available=available(shop, use), use=use)
    _tell(shop, taken, now)
    changed(shop.pk)
    return taken


@transaction.atomic
def put_back_stock(*, shop: Shop, uses: Iterable[StockUse], now: datetime) -> None:
    """Raise the stocks that `take_stock` lowered. A product that is gone since takes nothing back."""
    raised = _in_lock_order(uses)
    for use in raised:
        column = _column(use)
        _rows(shop, use).update(**{column: F(column) + use.qty}, updated_at=now)
    _tell(shop, raised, now)
    changed(shop.pk)


def available(shop: Shop, use: StockUse) -> int:
    """How many pieces the stock has left to sell now, never below zero."""
    left = _rows(shop, use).values_list(_column(use), flat=True).first()
    return max(left or 0, 0)


def _tell(shop: Shop, uses: list[StockUse], now: datetime) -> None:
    variants = {use.id for use in uses if use.kind == "variant"}
    events.tell_of_stock(shop, {use.id for use in uses if use.kind != "variant"}, variants, now)


def _in_lock_order(uses: Iterable[StockUse]) -> list[StockUse]:
    pieces: Counter[tuple[Kind, int]] = Counter()
    for use in uses:
        pieces[use.kind, use.id] += use.qty
    merged = [StockUse(kind, id, qty) for (kind, id), qty in pieces.items() if qty > 0]
    return sorted(merged, key=lambda use: (_TABLE_ORDER[use.kind], use.id, use.kind))


def _lower(shop: Shop, use: StockUse, now: datetime) -> bool:
    column = _column(use)
    enough = Q(**{f"{column}__gte": use.qty})
    if use.kind != "damaged":
        enough = Q(track_inventory=True) & (enough | Q(allow_backorders=True))
    changed = _rows(shop, use).filter(enough).update(**{column: F(column) - use.qty}, updated_at=now)
    return changed == 1


def _sells_uncounted(shop: Shop, use: StockUse) -> bool:
    return use.kind != "damaged" and _rows(shop, use).filter(track_inventory=False).exists()


def _column(use: StockUse) -> str:
    return "damaged_qty" if use.kind == "damaged" else "stock_qty"


def _rows(shop: Shop, use: StockUse) -> QuerySet[Model]:
    model: type[Product] | type[Variant] = Variant if use.kind == "variant" else Product
    return model.objects.filter(shop=shop, pk=use.id)

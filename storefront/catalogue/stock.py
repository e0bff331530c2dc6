"""Takes stock for orders and puts it back: by conditional updates, rows in a fixed order (R-CART-33)."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _

from storefront.catalogue import events
from storefront.catalogue.inventory import ledger
from storefront.catalogue.inventory.ledger import Kind as StockKind
from storefront.catalogue.inventory.queries import Item, changed_item, stock_of
from storefront.catalogue.inventory.stock_sql import PUT_BACK, TAKE, Kind, Statements, column
from storefront.catalogue.models import Product, Variant
from storefront.kit.dialect import dialect
from storefront.kit.refusals import Refusal
from storefront.kit.sql import fetch
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop

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
    message = _("Not enough stock.")

    def __init__(self, message: str | None = None, *, available: int, use: StockUse | None = None) -> None:
        super().__init__(message, available=available)
        self.available, self.use = available, use


def take_stock(*, shop: Shop, uses: Iterable[StockUse], now: datetime, reference: str = "") -> list[StockUse]:
    """Take all of these quantities or none. Returns the stocks that were lowered. `reference` is stored in the ledger.

    Stock that is not tracked is not lowered, so it is not in the result. With backorders, stock can fall below zero.
    Raises InsufficientStock for the first stock that is short; the caller's transaction, if any, must then end.
    """

    def refuse(use: StockUse) -> None:
        if not _is_untracked(shop, use):
            raise InsufficientStock(available=available(shop, use), use=use)

    cause = ledger.cause_of(StockKind.SOLD, reference=reference, now=now)
    return _Change(TAKE, shop, cause, now, unchanged=refuse).make(uses)


def put_back_stock(
    *, shop: Shop, uses: Iterable[StockUse], now: datetime, reference: str = "", reason: str = ""
) -> None:
    """Raise the stocks that `take_stock` lowered. Skips rows that were deleted since. `reference` and `reason` are
    stored in the ledger."""
    cause = ledger.cause_of(StockKind.RETURNED, reference=reference, reason=reason, now=now)
    _Change(PUT_BACK, shop, cause, now, unchanged=lambda use: None).make(uses)


def available(shop: Shop, use: StockUse) -> int:
    """The quantity that the stock has left to sell now, at least zero."""
    left = _rows(shop, use).values_list(column(use.kind), flat=True).first()
    return max(left or 0, 0)


def _in_lock_order(uses: Iterable[StockUse]) -> list[StockUse]:
    totals: Counter[tuple[Kind, int]] = Counter()
    for use in uses:
        totals[use.kind, use.id] += use.qty
    merged = [StockUse(kind, id, qty) for (kind, id), qty in totals.items() if qty > 0]
    return sorted(merged, key=lambda use: (_TABLE_ORDER[use.kind], use.id, use.kind))


@dataclass(frozen=True)
class _Change:
    """A change of stocks, with the cause for the ledger. `unchanged` is called with each stock for which no row was
    changed."""

    statements: Statements
    shop: Shop
    cause: ledger.Cause
    now: datetime
    unchanged: Callable[[StockUse], None]

    def make(self, uses: Iterable[StockUse]) -> list[StockUse]:
        """Change these stocks, all or none; returns those that were changed."""
        wanted = _in_lock_order(uses)
        is_alone = len(wanted) == 1 and dialect.WRITES_IN_WITH and self._is_made_alone(wanted[0])
        changed = wanted if is_alone else self._make_each(wanted)
        publish_change(self.shop.pk)
        return changed

    def _is_made_alone(self, use: StockUse) -> bool:
        """Make the change by one statement, if that finds the stock."""
        rows = fetch(connection, self.statements.alone[use.kind], self._parameters(use) | self.cause)
        if connection.in_atomic_block:
            # Without a transaction, the cause ended with the statement.
            ledger.clear_cause()
        return bool(rows)

    @transaction.atomic
    def _make_each(self, wanted: list[StockUse]) -> list[StockUse]:
        changed: list[StockUse] = []
        items: dict[str, Item] = {}
        with ledger.for_cause(self.cause):
            for use in wanted:
                rows = fetch(connection, self.statements.one_of_several[use.kind], self._parameters(use))
                if rows:
                    changed.append(use)
                    items |= self._items(use, rows[0])
                else:
                    self.unchanged(use)
        events.emit_item_changes(self.shop, items, self.now)
        return changed

    def _parameters(self, use: StockUse) -> dict[str, Any]:
        moment = connection.ops.adapt_datetimefield_value(self.now)
        return {"shop": self.shop.pk, "id": use.id, "qty": use.qty, "now": moment}

    def _items(self, use: StockUse, changed: tuple[Any, ...]) -> dict[str, Item]:
        """The items that show a row that was changed, by id."""
        deleted_at, has_variants, *row = changed
        if deleted_at is not None:
            return {}
        # A product's damaged units are shown by each of its variants.
        return stock_of(self.shop, [use.id]) if has_variants else changed_item(row, self.now)


def _is_untracked(shop: Shop, use: StockUse) -> bool:
    return use.kind != "damaged" and _rows(shop, use).filter(track_inventory=False).exists()


def _rows(shop: Shop, use: StockUse) -> QuerySet[Model]:
    model: type[Product] | type[Variant] = Variant if use.kind == "variant" else Product
    return model.objects.filter(shop=shop, pk=use.id)

"""Applies sale periods to the prices of a file. A file states regular prices, and the sale price with its dates. A
native export made during a sale has the member `regular_compare_price`."""

from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from storefront.catalogue.dated import sale_periods
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.money import ZERO

# The member of parsed fields that has the StatedPrices of a row.
STATED = "stated_prices"
_COLUMNS = frozenset(sale_periods.COLUMNS)
_OF_PERIOD = sale_periods.COLUMNS[2:]
_NEW = dict.fromkeys(sale_periods.COLUMNS) | {"price": ZERO, "compare_price": ZERO}


def settled(
    fields: dict[str, Any], now: datetime, row: Any = None, warn: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """The parsed fields with the prices that hold now, for this row of the shop or a new one.

    A regular price that a file states during a sale changes the regular price, and the sale continues. `warn` is called
    with the reason why an existing row's sale is left out. Raises InvalidValue for an impossible sale period.
    """
    prices = fields.get(STATED)
    is_on_sale = row is not None and row.sale_price is not None
    if prices is None and not is_on_sale and all(fields.get(name) is None for name in _OF_PERIOD):
        return fields
    stated = {}
    if not _COLUMNS.isdisjoint(fields):
        stated = {name: fields[name] for name in sale_periods.COLUMNS if name in fields}
    if not stated and prices is None:
        return fields
    if prices is not None and prices.sale is None and not stated and (row is None or _has_plain_price(row)):
        # The same as below, in a tenth of the time.
        others = {name: value for name, value in fields.items() if name != STATED}
        blank = ZERO if row is None else row.price
        return others | {"price": blank if prices.regular is None else prices.regular, "compare_price": ZERO}
    if row is not None:
        stated = _regular(stated, row)
    # Without the row's other columns: copying a model takes most of the time that its prices take.
    result = SimpleNamespace(**(_NEW if row is None else {name: getattr(row, name) for name in sale_periods.COLUMNS}))
    sale_periods.lift(result)
    for name, value in stated.items():
        setattr(result, name, value)
    # An export made during a sale has sale prices.
    sale_periods.lift(result)
    sale_periods.forget_dates(result, stated)
    if prices is not None:
        reason = prices.apply(result, is_new=row is None, now=now)
        if reason and warn:
            warn(reason)
    for name, problem in sale_periods.problems(result, (), now).items():
        raise InvalidValue(f"{name}: {problem}")
    sale_periods.settle(result, now)
    return {name: value for name, value in fields.items() if name != STATED} | {
        name: getattr(result, name) for name in sale_periods.COLUMNS
    }


def _has_plain_price(row: Any) -> bool:
    """Returns True if the row has a price alone, without a sale or a period."""
    return not row.compare_price and all(getattr(row, name) is None for name in _OF_PERIOD)


def _regular(stated: dict[str, Any], row: Any) -> dict[str, Any]:
    """The stated columns, with regular prices where they are those of an export made during a sale: then the price is
    the sale price. A regular price that the file lacks, or leaves empty, is left out."""
    sale = stated.get("sale_price", row.sale_price)
    if stated.get("regular_compare_price") is None and (sale is None or stated.get("price") != sale):
        return stated
    found = {name: value for name, value in stated.items() if name in ("sale_price", "sale_from", "sale_until")}
    if regular := stated.get("compare_price"):
        found["price"] = regular
    if (earlier := stated.get("regular_compare_price")) is not None:
        found["compare_price"] = earlier
    return found

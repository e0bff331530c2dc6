"""Applies sale periods to the prices of a file. A file states regular prices, and the sale price with its dates. A
native export made during a sale has the member `regular_compare_price`."""

from copy import copy
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from storefront.catalogue.dated import sale_periods
from storefront.catalogue.parsing import InvalidValue
from storefront.kit.money import ZERO

_OF_PERIOD = sale_periods.COLUMNS[2:]
_NEW = dict.fromkeys(sale_periods.COLUMNS) | {"price": ZERO, "compare_price": ZERO}


def settled(fields: dict[str, Any], now: datetime, row: Any = None) -> dict[str, Any]:
    """The parsed fields with the prices that hold now, for this row of the shop or a new one.

    A regular price that a file states during a sale changes the regular price, and the sale continues. Raises
    InvalidValue for an impossible sale period.
    """
    is_on_sale = row is not None and row.sale_price is not None
    if not is_on_sale and all(fields.get(name) is None for name in _OF_PERIOD):
        return fields
    stated = {name: fields[name] for name in sale_periods.COLUMNS if name in fields}
    if not stated:
        return fields
    result = copy(row) if row is not None else SimpleNamespace(**_NEW)
    sale_periods.lift(result)
    for name, value in stated.items():
        setattr(result, name, value)
    # An export made during a sale has sale prices.
    sale_periods.lift(result)
    sale_periods.forget_dates(result, stated)
    for name, problem in sale_periods.problems(result, (), now).items():
        raise InvalidValue(f"{name}: {problem}")
    sale_periods.settle(result, now)
    return fields | {name: getattr(result, name) for name in sale_periods.COLUMNS}

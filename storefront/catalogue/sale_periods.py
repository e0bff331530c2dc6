"""Sale periods: a sale price with a begin, an end or both, and the end of pre-orders.

While a sale price holds, `price` is the sale price and `compare_price` the regular one. Before and after, `price` is
the regular one. The columns say which it is: `regular_compare_price` is what `compare_price` was before, and null
unless the sale price holds. So a row can be brought to any time from whatever state it is in (`settle`), and nothing is
lost where the worker was away.

The worker writes begin and end into the rows (`turning.py`), and tells programs. What is shown and charged does not
wait for it: the catalogue's reads take these columns as they are at their moment (`dates.py`), and carts settle the
rows that they have read (`carts/purchasable.py`).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

# What `settle` reads and writes. They are written together or not at all: a row must never have the state of one moment
# and the price of another, whoever else writes it.
COLUMNS = ("price", "compare_price", "sale_price", "sale_from", "sale_until", "regular_compare_price")
# Why `price` cannot be changed while the sale price holds.
PRICE_HOLDS = (
    "A sale price holds: change sale_price, or the regular price, which is in compare_price until the sale ends."
)


def holds(row: Any) -> bool:
    """Whether `price` is the sale price now, as the row is stored."""
    return row.regular_compare_price is not None


def runs(row: Any, now: datetime) -> bool:
    """Whether the sale price applies at this time."""
    has_begun = row.sale_from is None or row.sale_from <= now
    return row.sale_price is not None and has_begun and (row.sale_until is None or now < row.sale_until)


def settle(row: Any, now: datetime) -> bool:
    """Bring the prices of a product or variant to this time, in memory. After its end, a sale period is forgotten.
    Returns whether anything changed."""
    if row.sale_price is None and row.sale_until is None and not holds(row):
        return False
    before = [getattr(row, name) for name in COLUMNS]
    if not runs(row, now):
        lift(row)
    elif holds(row):
        row.price = row.sale_price
    else:
        row.regular_compare_price, row.compare_price, row.price = row.compare_price, row.price, row.sale_price
    if row.sale_until is not None and row.sale_until <= now:
        row.sale_price = row.sale_from = row.sale_until = None
    return before != [getattr(row, name) for name in COLUMNS]


def lift(row: Any) -> None:
    """Give the row its regular prices, in memory."""
    if holds(row):
        row.price, row.compare_price, row.regular_compare_price = row.compare_price, row.regular_compare_price, None


def end_preorder(product: Any, now: datetime) -> bool:
    """Make a pre-order whose date has come an ordinary product, in memory. Returns whether its date has come."""
    if not product.is_preorder or product.available_from is None or now < product.available_from:
        return False
    product.is_preorder, product.available_from = False, None
    return True


def columns_to_write(columns: Iterable[str]) -> list[str]:
    """The columns, completed by those that have to be written with them."""
    found = dict.fromkeys(columns)
    return list(found | dict.fromkeys(COLUMNS)) if found.keys() & set(COLUMNS) else list(found)


def forget_dates(row: Any, given: Mapping[str, Any]) -> None:
    """Take the begin and the end from a row whose sale price is removed, in memory."""
    if "sale_price" in given and row.sale_price is None:
        for name in ("sale_from", "sale_until"):
            if given.get(name) is None:
                setattr(row, name, None)


def problems(row: Any, given: Iterable[str], now: datetime) -> dict[str, str]:
    """What is wrong with the sale period of a product or variant, by column. `given` names the columns that are set."""
    found = {}
    regular = row.compare_price if holds(row) else row.price
    if row.sale_price is None:
        for name in ("sale_from", "sale_until"):
            if getattr(row, name) is not None:
                found[name] = "Only a sale price has a begin and an end. Enter a sale price, or leave this empty."
        return found
    if row.sale_price >= regular:
        found["sale_price"] = f"Expected less than the regular price, which is {regular:.2f}."
    elif getattr(row, "is_gift_card", False):
        found["sale_price"] = "A gift card is sold at its value."
    if row.sale_from and row.sale_until and row.sale_until <= row.sale_from:
        found["sale_until"] = "Expected a time after the begin of the sale."
    elif row.sale_until and row.sale_until <= now and "sale_until" in given:
        found["sale_until"] = "This time has passed. To end a sale, remove its sale price."
    return found

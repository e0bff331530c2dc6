"""Sale periods: a sale price with a begin, an end or both, and the end of pre-orders.

While a sale price holds, `price` is the sale price and `compare_price` the regular one. Before and after, `price` is
the regular one. The column `regular_compare_price` distinguishes these states: it has the earlier `compare_price` while
the sale price holds, and is null otherwise. So `settle` can bring a row from any state to any time, even if the worker
was down.

The worker writes begin and end into the rows (`dated/turning.py`) and emits events. Pages and carts do not wait for
that: the catalogue's reads compute these columns for their moment (`dated/dates.py`), and carts settle the rows that
they have read (`carts/purchasable.py`).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

# Columns that `settle` reads and writes. They are written together or not at all, so that a row never has the state of
# one moment and the price of another.
COLUMNS = ("price", "compare_price", "sale_price", "sale_from", "sale_until", "regular_compare_price")
# The refusal of a change of `price` while the sale price holds.
PRICE_HOLDS = _lazy(
    "A sale price holds: change sale_price, or the regular price, which is in compare_price until the sale ends."
)


def holds(row: Any) -> bool:
    """Returns True if the stored `price` is the sale price."""
    return row.regular_compare_price is not None


def runs(row: Any, now: datetime) -> bool:
    """Returns True if the sale price applies at this time."""
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
    """Restore the row's regular prices, in memory."""
    if holds(row):
        row.price, row.compare_price, row.regular_compare_price = row.compare_price, row.regular_compare_price, None


def end_preorder(product: Any, now: datetime) -> bool:
    """Turn a pre-order whose date has come into an ordinary product, in memory. Returns True if its date has come."""
    if not product.is_preorder or product.available_from is None or now < product.available_from:
        return False
    product.is_preorder, product.available_from = False, None
    return True


def columns_to_write(columns: Iterable[str]) -> list[str]:
    """The columns, completed by those that have to be written with them."""
    found = dict.fromkeys(columns)
    return list(found | dict.fromkeys(COLUMNS)) if found.keys() & set(COLUMNS) else list(found)


def forget_dates(row: Any, given: Mapping[str, Any]) -> None:
    """Remove begin and end from a row whose sale price is removed, in memory."""
    if "sale_price" in given and row.sale_price is None:
        for name in ("sale_from", "sale_until"):
            if given.get(name) is None:
                setattr(row, name, None)


def problems(row: Any, given: Iterable[str], now: datetime) -> dict[str, str]:
    """The problems of the sale period of a product or variant, by column. `given` names the columns that are set."""
    found = {}
    regular = row.compare_price if holds(row) else row.price
    if row.sale_price is None:
        for name in ("sale_from", "sale_until"):
            if getattr(row, name) is not None:
                found[name] = _("Only a sale price has a start and an end. Enter a sale price, or leave this empty.")
        return found
    if row.sale_price >= regular:
        found["sale_price"] = _("Expected less than the regular price, which is %(price)s.") % {
            "price": f"{regular:.2f}"
        }
    elif getattr(row, "is_gift_card", False):
        found["sale_price"] = _("A gift card is sold at its value.")
    if row.sale_from and row.sale_until and row.sale_until <= row.sale_from:
        found["sale_until"] = _("Expected a time after the start of the sale.")
    elif row.sale_until and row.sale_until <= now and "sale_until" in given:
        found["sale_until"] = _("This time has passed. To end a sale, remove its sale price.")
    return found

"""The regular price and the sale of a row of a file, and what they make of existing prices.

What must never happen: a price of 0.00 from an empty cell, a sale that ends because the file lacks its column, a
regular price that is lost because the file has only the sale.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.money import ZERO
from storefront.product_files.parsed_products import CompactPickle

# Why a sale ends where its cell is empty, which a report has once.
SALE_ENDS = _lazy("is empty; the sale ends; reported once")

# Why a sale of the file is left out: where no sale runs, and where the one that runs ends with it.
HAS_ENDED = (
    _lazy("the sale has ended; ignored"),
    _lazy("the sale has ended; ignored; the earlier sale ends"),
)
ENDS_FIRST = (
    _lazy("the sale ends before it starts; ignored"),
    _lazy("the sale ends before it starts; ignored; the earlier sale ends"),
)
NO_PRICE = (
    _lazy("there is no regular price until the sale starts; ignored"),
    _lazy("there is no regular price until the sale starts; ignored; the earlier sale ends"),
)
NOT_LOWER = (
    _lazy("is not lower than the regular price; ignored"),
    _lazy("is not lower than the regular price; ignored; the earlier sale ends"),
)


@dataclass(slots=True)
class StatedPrices(CompactPickle):
    """The prices of a row. `columns` are those that the file has, of `regular price`, `sale price`, `sale starts` and
    `sale ends`; what belongs to another stays as it is. An empty regular price keeps the price, an empty sale price
    ends the sale."""

    regular: Decimal | None
    sale: Decimal | None
    starts: datetime | None
    ends: datetime | None
    columns: frozenset[str]

    def apply(self, row: Any, *, is_new: bool, now: datetime) -> str:
        """Set the prices of a product or variant, whose sale price does not hold, in memory. Returns the reason why a
        sale is left out, or why one ends, empty if none is."""
        # A sale without dates: the price, with the regular one as compare price.
        is_reduced = row.sale_price is None and row.compare_price > row.price
        regular = self.regular
        if regular is None and not is_new:
            regular = row.compare_price if is_reduced else row.price
        runs = is_reduced or (row.sale_price is not None and (row.sale_until is None or row.sale_until > now))
        sale, starts, ends = row.price if is_reduced else row.sale_price, row.sale_from, row.sale_until
        if "sale price" in self.columns:
            sale = self.sale
        if "sale starts" in self.columns:
            starts = self.starts
        if "sale ends" in self.columns:
            ends = self.ends
        reason = self._unfit(sale, regular, starts, ends, now, ends_one=runs and not is_new)
        if runs and not is_new and sale is None:
            reason = str(SALE_ENDS)
        if reason or sale is None:
            sale = starts = ends = None
        if is_reduced or (regular is not None and row.compare_price > regular):
            row.compare_price = ZERO
        row.price = ZERO if regular is None else regular
        row.sale_price = row.sale_from = row.sale_until = None
        if sale is not None and regular is not None and (starts or ends):
            row.sale_price, row.sale_from, row.sale_until = sale, starts, ends
        elif sale is not None:
            row.price, row.compare_price = sale, regular or ZERO
        return reason

    def _unfit(
        self,
        sale: Decimal | None,
        regular: Decimal | None,
        starts: datetime | None,
        ends: datetime | None,
        now: datetime,
        *,
        ends_one: bool,
    ) -> str:
        if sale is None:
            return ""
        if ends is not None and ends <= now:
            return str(HAS_ENDED[ends_one])
        if starts is not None and ends is not None and ends <= starts:
            return str(ENDS_FIRST[ends_one])
        if regular is None and starts is not None and starts > now:
            return str(NO_PRICE[ends_one])
        if regular is not None and sale >= regular:
            if "sale price" in self.columns:
                return str(NOT_LOWER[ends_one])
            text = _("the sale price %(price)s is not lower than the regular price; the sale has ended")
            return text % {"price": f"{sale:.2f}"}
        return ""

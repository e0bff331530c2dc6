"""Reads the prices of a row: regular, or on sale, permanently or between two dates."""

from datetime import datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from storefront.kit.money import ZERO
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.rows import ColumnIndex, RowReader
from storefront.product_files.stated_prices import StatedPrices
from storefront.product_files.woocommerce.parsers import moment
from storefront.shops.models import Shop

COLUMNS = ("regular price", "sale price", "sale starts", "sale ends")


class PriceColumns:
    """Reads the columns of prices that one file has."""

    def __init__(self, columns: ColumnIndex, shop: Shop, now: datetime) -> None:
        self.columns = frozenset(name for name in COLUMNS if name in columns)
        self.parse, self.zone, self.now = parsers.money(shop.currency, blank=None), ZoneInfo(shop.timezone), now

    def read(self, row: RowReader, parsed: ParsedProduct) -> StatedPrices:
        """The prices of the row. Adds a warning for a new product whose sale is left out. A sale at 0.00 is refused
        where the regular price is another one, since such columns of other programs mean that there is no sale; our
        own exports mean it."""
        regular, sale = row.read("regular price", self.parse), row.read("sale price", self.parse)
        starts = ends = None
        if "sale starts" in self.columns:
            starts = row.read("sale starts", lambda value: moment(value, self.zone))
        if "sale ends" in self.columns:
            ends = row.read("sale ends", lambda value: moment(value, self.zone, end=True))
        if sale is not None and not sale and regular != ZERO and not row["source"]:
            row.refuse("sale price", _("is 0, which would make it free; leave it empty if there is no sale"))
        prices = StatedPrices(regular, sale, starts, ends, self.columns)
        if sale is not None:
            new = SimpleNamespace(price=ZERO, compare_price=ZERO, sale_price=None, sale_from=None, sale_until=None)
            if reason := prices.apply(new, is_new=True, now=self.now):
                parsed.warn_if_new(row.columns.header["sale price"], reason, row.line)
        return prices

"""The price of a row: regular, or on sale."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from storefront.kit.money import ZERO
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct
from storefront.product_files.rows import RowReader
from storefront.product_files.woocommerce.parsers import moment


def read_price(row: RowReader, parsed: ParsedProduct, fields: dict[str, Any], *, zone: ZoneInfo, now: datetime) -> None:
    """During the sale, the sale price with the regular price as compare price; otherwise the regular price. Adds a
    warning for a sale that is left out. `zone` is the shop's."""
    regular = row.read("regular price", parsers.money_or_none)
    sale = row.read("sale price", parsers.money_or_none)
    if sale is not None and not _runs(row, zone, now):
        parsed.warn(row.columns.header["sale price"], "the sale is not active today; ignored", row.line)
        sale = None
    elif sale is not None and regular is not None and sale >= regular:
        parsed.warn(row.columns.header["sale price"], "is not lower than the regular price; ignored", row.line)
        sale = None
    fields["price"] = regular or ZERO if sale is None else sale
    fields["compare_price"] = ZERO if sale is None else regular or ZERO


def _runs(row: RowReader, zone: ZoneInfo, now: datetime) -> bool:
    starts = row.read("sale starts", lambda value: moment(value, zone))
    ends = row.read("sale ends", lambda value: moment(value, zone, end=True))
    return (starts is None or starts <= now) and (ends is None or now <= ends)

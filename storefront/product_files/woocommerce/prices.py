"""Reads the prices of a row: regular, or on sale, permanently or between two dates."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from storefront.kit.money import ZERO
from storefront.product_files import parsers
from storefront.product_files.parsed_products import ParsedProduct, ParsedVariant
from storefront.product_files.rows import RowReader
from storefront.product_files.woocommerce.parsers import moment
from storefront.shops.models import Shop

_NO_SALE = {"sale_price": None, "sale_from": None, "sale_until": None}


def read_price(row: RowReader, parsed: ParsedProduct, fields: dict[str, Any], *, shop: Shop, now: datetime) -> None:
    """The regular price, and a sale price with its dates. A sale without dates is the price, with the regular one as
    compare price. Adds a warning for a sale that is left out."""
    parse, zone = parsers.money(shop.currency, blank=None), ZoneInfo(shop.timezone)
    regular = row.read("regular price", parse)
    sale = row.read("sale price", parse)
    starts = row.read("sale starts", lambda value: moment(value, zone))
    ends = row.read("sale ends", lambda value: moment(value, zone, end=True))
    reason = _unfit(sale, regular, starts, ends, now)
    if sale is not None and reason:
        parsed.warn(row.columns.header["sale price"], reason, row.line)
        sale = None
    if "sale price" in row.columns:
        fields |= _NO_SALE
    if sale is not None and regular is not None and (starts or ends):
        fields |= {"sale_price": sale, "sale_from": starts, "sale_until": ends}
        sale = None
    fields["price"] = regular or ZERO if sale is None else sale
    fields["compare_price"] = ZERO if sale is None else regular or ZERO


def cheapest_sale(variants: Iterable[ParsedVariant], price: Decimal) -> dict[str, Any]:
    """The sale period of a variable product, by which lists are sorted: that of the variant with the lowest sale price,
    if this is below `price`."""
    stated = [variant.fields for variant in variants if "sale_price" in variant.fields]
    on_sale = [each for each in stated if each["sale_price"] is not None and each.get("is_active", True)]
    lowest = min(on_sale, key=lambda each: each["sale_price"], default=None)
    if lowest is not None and lowest["sale_price"] < price:
        return {name: lowest[name] for name in _NO_SALE}
    return _NO_SALE if stated else {}


def _unfit(
    sale: Decimal | None, regular: Decimal | None, starts: datetime | None, ends: datetime | None, now: datetime
) -> str:
    """The reason why the sale is left out; empty if it is not."""
    if sale is None:
        return ""
    if ends is not None and ends <= now:
        return "the sale has ended; ignored"
    if starts is not None and ends is not None and ends <= starts:
        return "the sale ends before it starts; ignored"
    if regular is None and starts is not None and starts > now:
        return "there is no regular price until the sale starts; ignored"
    if regular is not None and sale >= regular:
        return "is not lower than the regular price; ignored"
    return ""

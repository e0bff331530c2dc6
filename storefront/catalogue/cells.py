"""How the cells of product files are understood: numbers, money, measures, words for yes and no, times, slugs.

Every parser takes the trimmed text of a cell and raises Unfit with a phrase that follows the column's name.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from django.db import models

from storefront.catalogue import rules
from storefront.catalogue.incoming import ProductRecord, Unfit
from storefront.catalogue.models import Category, Media, Option, OptionValue, Product, Variant
from storefront.kit.money import LARGEST, ZERO, quantize

Parse = Callable[[str], Any]

LARGEST_INTEGER = 2**31 - 1
LARGEST_MEASURE = Decimal("999999999.999")
_MILLI = Decimal("0.001")


def _limits(model: type[models.Model]) -> dict[str, int]:
    return {
        column.name: column.max_length
        for column in model._meta.concrete_fields
        if isinstance(column, models.CharField) and column.max_length
    }


# How many characters a text column holds. SQLite does not check, so it is checked here.
LIMITS: dict[type[models.Model], dict[str, int]] = {
    model: _limits(model) for model in (Category, Media, Option, OptionValue, Product, Variant)
}

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def check_text(value: str, limit: int | None = None) -> str:
    """The text, if a column of so many characters can hold it on every database."""
    if limit is not None and len(value) > limit:
        raise Unfit(f"has {len(value)} characters, at most {limit} fit")
    if "\0" in value:
        raise Unfit("holds a NUL character")
    if not value.isascii() and _UNSTORABLE.search(value):
        raise Unfit("is not valid UTF-8 text")
    return value


def text(limit: int | None = None) -> Parse:
    return lambda cell: check_text(cell, limit)


def text_or_none(limit: int | None = None) -> Parse:
    return lambda cell: check_text(cell, limit) or None


def address(cell: str) -> str:
    """A picture's address, which must be one of the web; blank stays blank."""
    if cell and not cell.lower().startswith(("https://", "http://")):
        raise Unfit(f"expected an address that begins with https:// or http://, found {shown(cell)}")
    return check_text(cell, LIMITS[Media]["source_url"])


def required(parse: Parse) -> Parse:
    def parse_what_is_set(cell: str) -> Any:
        if not cell:
            raise Unfit("is empty")
        return parse(cell)

    return parse_what_is_set


_PLAIN = re.compile(r"-?(\d+\.?\d*|\.\d+)\Z", re.ASCII)
_POINT_AFTER_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?\Z", re.ASCII)
_COMMA_AFTER_THOUSANDS = re.compile(r"-?\d{1,3}((\.\d{3})+,\d*|(\.\d{3}){2,})\Z", re.ASCII)
_COMMA = re.compile(r"-?\d*,\d+\Z", re.ASCII)
_SPACE_IN_THOUSANDS = re.compile(r"(?<=\d)['’\s](?=\d{3})")


def number(cell: str) -> Decimal:
    """A number with a decimal point or comma, with or without separated thousands: `1770.5`, `1.770,50`, `1,770.50`.

    What could be either is read as most files mean it: `1.234` has a decimal point, `1,234` has thousands.
    """
    if not _PLAIN.match(cell):
        cell = _plain_form(cell)
    if len(cell) > 40:
        raise Unfit(f"expected a number, found {shown(cell)}")
    return Decimal(cell)


def _plain_form(cell: str) -> str:
    joined = _SPACE_IN_THOUSANDS.sub("", cell)
    if _PLAIN.match(joined):
        return joined
    if _POINT_AFTER_THOUSANDS.match(joined):
        return joined.replace(",", "")
    if _COMMA_AFTER_THOUSANDS.match(joined):
        return joined.replace(".", "").replace(",", ".")
    if _COMMA.match(joined):
        return joined.replace(",", ".")
    raise Unfit(f"expected a number, found {shown(cell)}")


def shown(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")


def money(cell: str) -> Decimal:
    """An amount that is not negative, in whole cents; blank is zero."""
    if not cell:
        return ZERO
    amount = number(cell)
    if amount.is_signed() and amount:
        raise Unfit(f"expected an amount that is not negative, found {shown(cell)}")
    if amount > LARGEST:
        raise Unfit(f"is larger than {LARGEST}")
    return quantize(abs(amount))


def money_or_none(cell: str) -> Decimal | None:
    return money(cell) if cell else None


def measure(factor: Decimal = Decimal(1), blank: Decimal | None = None) -> Parse:
    """A length or a weight times `factor`, with three fraction digits."""

    def parse(cell: str) -> Decimal | None:
        if not cell:
            return blank
        amount = number(cell) * factor
        if not 0 <= amount <= LARGEST_MEASURE:
            raise Unfit(f"expected a measure from 0 to {LARGEST_MEASURE}, found {shown(cell)}")
        return amount.quantize(_MILLI)

    return parse


def integer(low: int = -LARGEST_INTEGER, high: int = LARGEST_INTEGER, blank: int | None = 0) -> Parse:
    """A whole number; `5.0` is one too."""

    def parse(cell: str) -> int | None:
        if not cell:
            return blank
        amount = number(cell)
        if amount != amount.to_integral_value():
            raise Unfit(f"expected a whole number, found {shown(cell)}")
        if not low <= amount <= high:
            raise Unfit(f"expected a whole number from {low} to {high}, found {shown(cell)}")
        return int(amount)

    return parse


_TRUE = {"1", "true", "yes", "y", "on"}
_FALSE = {"0", "false", "no", "n", "off"}


def boolean(*, blank: bool) -> Parse:
    def parse(cell: str) -> bool:
        word = cell.lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        if not word:
            return blank
        raise Unfit(f"expected 1 or 0, or true or false, found {shown(cell)}")

    return parse


def moment(cell: str) -> datetime | None:
    """An ISO 8601 time; without an offset it is UTC."""
    if not cell:
        return None
    try:
        found = datetime.fromisoformat(cell)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"expected a time such as 2026-11-21T07:30:00Z, found {shown(cell)}") from None


def slug(cell: str) -> str:
    """A slug as a file states it, in any script; made fit for an address where it is not."""
    if rules.is_slug(cell) and not cell.isdigit():
        return check_text(cell)
    return rules.slug_of(cell, fallback="product")


def stock(cell: str) -> Decimal:
    """A stock level as the file has it; `settle_stock` makes of it what the shop can keep."""
    amount = number(cell)
    if abs(amount) > LARGEST_INTEGER:
        raise Unfit(f"expected a number of pieces up to {LARGEST_INTEGER}, found {shown(cell)}")
    return amount


def settle_stock(record: ProductRecord, fields: dict[str, Any], column: str, line: int) -> None:
    """Pieces are whole, and below zero stands only what is backordered or not tracked; else it is zero, with a
    warning."""
    qty = fields.get("stock_qty")
    if not isinstance(qty, Decimal):
        return
    whole = int(qty.to_integral_value(rounding=ROUND_FLOOR))
    if whole != qty:
        record.warn(column, f"a stock of {qty} is taken as {whole}", line)
    if whole < 0 and fields.get("track_inventory", True) and not fields.get("allow_backorders", False):
        record.warn(column, f"a stock of {whole} is taken as 0, since backorders are not allowed", line)
        whole = 0
    fields["stock_qty"] = whole

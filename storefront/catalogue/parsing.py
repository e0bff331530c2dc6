"""Parsers for texts from outside: checked texts, HTML, numbers, measures, times.

Every parser raises InvalidValue, whose message is a phrase that follows the name of the field.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from storefront.kit import markup

Parse = Callable[[str], Any]

MAX_INTEGER = 2**31 - 1
MAX_MEASURE = Decimal("999999999.999")
_MILLI = Decimal("0.001")


class InvalidValue(Exception):
    """A value that cannot be used. The message is a phrase that follows the field's name."""


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def check_text(value: str, limit: int | None = None) -> str:
    """The text, if a column of `limit` characters can store it on both databases."""
    if limit is not None and len(value) > limit:
        raise InvalidValue(
            _("has %(count)s characters; at most %(limit)s are allowed") % {"count": len(value), "limit": limit}
        )
    if "\0" in value:
        raise InvalidValue(_("contains a NUL character"))
    if not value.isascii() and _UNSTORABLE.search(value):
        raise InvalidValue(_("is not valid UTF-8 text"))
    return value


def html(cell: str) -> str:
    """The text, if its HTML is within the limits of `kit/markup.py`."""
    if problem := markup.problem(cell):
        raise InvalidValue(problem)
    return check_text(cell)


_PLAIN = re.compile(r"-?(\d+\.?\d*|\.\d+)\Z", re.ASCII)
_POINT_AFTER_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?\Z", re.ASCII)
_COMMA_AFTER_THOUSANDS = re.compile(r"-?\d{1,3}((\.\d{3})+,\d*|(\.\d{3}){2,})\Z", re.ASCII)
_COMMA = re.compile(r"-?\d*,\d+\Z", re.ASCII)
_SPACE_IN_THOUSANDS = re.compile(r"(?<=\d)['’\s](?=\d{3})")


def number(cell: str) -> Decimal:
    """A number with a decimal point or comma, with or without separated thousands: `1770.5`, `1.770,50`, `1,770.50`.

    An ambiguous number is read as most files mean it: `1.234` has a decimal point, `1,234` is over a thousand.
    """
    if not _PLAIN.match(cell):
        cell = _plain_form(cell)
    if len(cell) > 40:
        raise InvalidValue(_("expected a number, found %(cell)s") % {"cell": quoted(cell)})
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
    raise InvalidValue(_("expected a number, found %(cell)s") % {"cell": quoted(cell)})


def quoted(cell: str) -> str:
    """The text in quotes for a message, cut to 40 characters."""
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")


def measure(factor: Decimal = Decimal(1), blank: Decimal | None = None) -> Parse:
    """A parser for a length or a weight, times `factor`, with three fraction digits. An empty cell is `blank`."""

    def parse(cell: str) -> Decimal | None:
        if not cell:
            return blank
        amount = number(cell) * factor
        if not 0 <= amount <= MAX_MEASURE:
            raise InvalidValue(
                _("expected a measure from 0 to %(most)s, found %(cell)s") % {"most": MAX_MEASURE, "cell": quoted(cell)}
            )
        return amount.quantize(_MILLI)

    return parse


def moment(cell: str) -> datetime | None:
    """An ISO 8601 time as UTC. Without an offset, it is taken as UTC. None for an empty cell."""
    if not cell:
        return None
    try:
        found = datetime.fromisoformat(cell)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidValue(
            _("expected a time such as 2026-11-21T07:30:00Z, found %(cell)s") % {"cell": quoted(cell)}
        ) from None

"""Money, times and counts for people to read, on the shop's pages and in the admin."""

from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from babel.numbers import format_currency, format_decimal

LOCALE = "en"


def format_money(amount: Decimal | None, currency: str) -> str:
    """`Decimal("1234.5")` in EUR as `€1,234.50`; a currency without cents keeps none. None is empty."""
    return "" if amount is None else format_currency(amount, currency, locale=LOCALE)


def format_time(moment: datetime | None, timezone: str) -> str:
    """`21 Nov 2026, 08:30` on the clock of that time zone, such as Europe/Berlin. None is empty."""
    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(timezone))
    return f"{local.day} {local:%b %Y, %H:%M}"


def format_day(moment: datetime | None, timezone: str) -> str:
    """`21 Nov 2026` in that time zone. None is empty."""
    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(timezone))
    return f"{local.day} {local:%b %Y}"


def format_count(number: int) -> str:
    """`92331` as `92,331`."""
    return format_decimal(number, locale=LOCALE)


def format_bytes(size: int) -> str:
    """`1536` as `1.5 KB`, in steps of 1024."""
    amount, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    return f"{format_decimal(round(amount, 1), locale=LOCALE)} {units[0]}"

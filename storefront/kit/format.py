"""Money, times and counts for people to read, in the active language: on pages, in mails and in the admin."""

from copy import copy
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_skeleton
from babel.numbers import NumberPattern, format_decimal
from babel.numbers import format_percent as percent_in_locale
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from storefront.kit.currencies import decimals

ENGLISH = "en"


def active_locale() -> str:
    """The active language, as Babel names it."""
    return (get_language() or ENGLISH).partition("-")[0]


def format_money(amount: Decimal | None, currency: str) -> str:
    """`Decimal("1234.5")` in EUR as `€1,234.50`, in German `1.234,50 €`, in JPY as `¥1,234.5`: with the decimals that
    the currency has, and with all that the amount has. None is empty."""
    if amount is None:
        return ""
    locale = active_locale()
    return _pattern(locale, decimals(currency)).apply(
        amount, locale, currency=currency, currency_digits=False, decimal_quantization=False
    )


def format_round_money(amount: Decimal, currency: str) -> str:
    """`€1,234`, for the axis of a chart: without decimals."""
    locale = active_locale()
    return _pattern(locale, 0).apply(amount, locale, currency=currency, currency_digits=False)


def format_time(moment: datetime | None, timezone: str) -> str:
    """`21 Nov 2026, 08:30` on the clock of that time zone, such as Europe/Berlin. None is empty."""
    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(timezone))
    return f"{format_date(local)}, {local:%H:%M}"


def format_day(moment: datetime | None, timezone: str) -> str:
    """`21 Nov 2026` in that time zone. None is empty."""
    return "" if moment is None else format_date(moment.astimezone(ZoneInfo(timezone)))


def format_date(day: date) -> str:
    """`21 Nov 2026`, in German `21. Nov. 2026`."""
    locale = active_locale()
    # English as it is written in Europe, as in `kit/formats/en`.
    return f"{day.day} {day:%b %Y}" if locale == ENGLISH else format_skeleton("yMMMd", day, locale=locale)


def format_month_day(day: date) -> str:
    """`21 Nov`, in German `21. Nov.`."""
    locale = active_locale()
    return f"{day.day} {day:%b}" if locale == ENGLISH else format_skeleton("MMMd", day, locale=locale)


def format_count(number: int) -> str:
    """`92331` as `92,331`."""
    return format_decimal(number, locale=active_locale())


def format_number(number: Decimal) -> str:
    """`Decimal("92331.50")` as `92,331.50`, with all the decimals that it has."""
    decimals = max(-int(number.as_tuple().exponent), 0)
    return format_decimal(number, format=f"#,##0.{'0' * decimals}", locale=active_locale())


def format_percent(rate: Decimal) -> str:
    """`Decimal("19.000")` as `19%`, in German `19 %`."""
    return percent_in_locale(rate / 100, locale=active_locale(), decimal_quantization=False)


def quoted(text: str) -> str:
    """The text in quotation marks."""
    # Translators: what a shopper wrote, in the quotation marks of the language. Germany: „%(text)s“.
    return _("“%(text)s”") % {"text": text}


def format_bytes(size: int) -> str:
    """`1536` as `1.5 KB`, in steps of 1024."""
    amount, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while amount >= 1024 and len(units) > 1:
        amount /= 1024
        units.pop(0)
    unit = _("bytes") if units[0] == "bytes" else units[0]
    return f"{format_decimal(round(amount, 1), locale=active_locale())} {unit}"


@cache
def _pattern(locale: str, decimals: int) -> NumberPattern:
    pattern = copy(Locale.parse(locale).currency_formats["standard"])
    pattern.frac_prec = decimals, decimals
    return pattern

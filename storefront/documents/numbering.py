"""Consecutive numbers of invoices and credit notes, without gaps.

A number is its prefix and a count, `2026-00001`. Each prefix counts on its own, so documents with the same prefix share
one series. The number is taken in the transaction that stores its document, so a rollback leaves no gap.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from storefront import audit
from storefront.documents.models import NumberSeries
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop

YEAR = "{year}"
DIGITS = 5
MAX_NUMBER = 999_999_999
_PREFIX = re.compile(r"[A-Za-z0-9 ./_#-]*\Z")


class SeriesInUse(Refusal):
    code = "number_series_in_use"


@dataclass(frozen=True)
class Number:
    prefix: str
    position: int

    def __str__(self) -> str:
        return f"{self.prefix}{self.position:0{DIGITS}d}"


def check_prefix(prefix: str) -> str:
    """The prefix of a shop's settings. Raises ValueError.

    It must not end with a digit: `A` and 100001 would be the same number as `A1` and 1.
    """
    plain = prefix.replace(YEAR, "2026")
    if not _PREFIX.match(plain):
        raise ValueError(_("Use letters, digits, spaces and . / _ # - only, and {year} for the year."))
    if plain[-1:].isdigit():
        raise ValueError(_("It must not end with a digit or the year. Add a hyphen, for example."))
    return prefix


def prefix_at(shop: Shop, prefix: str, now: datetime) -> str:
    """The prefix with the current year in the shop's time zone."""
    return prefix.replace(YEAR, str(shop.local_time(now).year))


def take_number(*, shop: Shop, prefix: str, now: datetime) -> Number:
    """The next number. Call it late in the transaction that stores the document: until its commit, all other documents
    of the series wait."""
    prefix = prefix_at(shop, prefix, now)
    series = NumberSeries.objects.filter(shop=shop, prefix=prefix)
    if not series.update(next_number=F("next_number") + 1, is_used=True):
        # The first document of its series. A concurrent one waits here for this one's commit.
        NumberSeries.objects.bulk_create([NumberSeries(shop=shop, prefix=prefix)], ignore_conflicts=True)
        series.update(next_number=F("next_number") + 1, is_used=True)
    return Number(prefix, series.values_list("next_number", flat=True).get() - 1)


def next_number(shop: Shop, prefix: str, now: datetime) -> int:
    """The count of the next document with this prefix."""
    found = NumberSeries.objects.filter(shop=shop, prefix=prefix_at(shop, prefix, now))
    return found.values_list("next_number", flat=True).first() or 1


def check_begin(*, shop: Shop, prefix: str, at: int, now: datetime) -> None:
    """Raises SeriesInUse if the series cannot begin at this number, because numbers of it were already used. That would
    leave a gap, or use a number twice."""
    _refuse_used(NumberSeries.objects.filter(shop=shop, prefix=prefix_at(shop, prefix, now)).first(), at)


@transaction.atomic
def begin_series(*, shop: Shop, prefix: str, at: int, now: datetime) -> None:
    """Let a series begin at this number. Raises SeriesInUse, as `check_begin` does."""
    prefix = prefix_at(shop, prefix, now)
    NumberSeries.objects.bulk_create([NumberSeries(shop=shop, prefix=prefix)], ignore_conflicts=True)
    series = NumberSeries.objects.select_for_update(of=("self",), no_key=True).get(shop=shop, prefix=prefix)
    _refuse_used(series, at)
    if series.next_number == at:
        return
    before = series.next_number
    series.next_number = at
    series.save(update_fields=["next_number"])
    about = audit.Object("number_series", series.pk, str(series))
    was, becomes, action = {"next_number": before}, {"next_number": at}, "number_series.updated"
    audit.record(shop=shop, action=action, object=about, before=was, after=becomes, now=now)


def _refuse_used(series: NumberSeries | None, at: int) -> None:
    if series is not None and series.is_used and series.next_number != at:
        raise SeriesInUse(
            _("The next number is %(number)s, since numbers must follow each other without a gap.") % {"number": series}
        )

"""Periods of the start page's figures, in days of the shop's time zone."""

import itertools
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from storefront.shops.models import Shop

MAX_DAYS = 366
NAMES = {"today": "Today", "7": "7 days", "30": "30 days", "month": "This month", "custom": "Other dates"}
USUAL = "30"
WRONG_DATES = f"Choose a first and a last day, at most {MAX_DAYS} days apart."

# Start and end; the end is excluded.
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Period:
    """A period from the first to the last day, both included. `problem` is the error in the requested dates."""

    name: str
    first: date
    last: date
    timezone: str
    problem: str = ""

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> "Period":
        """The same number of days directly before."""
        length = timedelta(days=self.days)
        return Period(self.name, self.first - length, self.last - length, self.timezone)

    @property
    def span(self) -> Span:
        return self._start_of(self.first), self._start_of(self.last + timedelta(days=1))

    @property
    def spans(self) -> list[Span]:
        """The days, or the hours of a single day. A day when the clock changes has 23 or 25 hours."""
        if self.days > 1:
            starts = [self._start_of(self.first + timedelta(days=count)) for count in range(self.days + 1)]
        else:
            since, until = self.span
            starts = [since + timedelta(hours=count) for count in range(int((until - since) / timedelta(hours=1)) + 1)]
        return list(itertools.pairwise(starts))

    @property
    def labels(self) -> list[str]:
        """The name of each of `spans`."""
        zone = ZoneInfo(self.timezone)
        local = [since.astimezone(zone) for since, _ in self.spans]
        return [f"{each.day} {each:%b}" if self.days > 1 else f"{each:%H:%M}" for each in local]

    @property
    def text(self) -> str:
        first, last = f"{self.first.day} {self.first:%b %Y}", f"{self.last.day} {self.last:%b %Y}"
        return first if first == last else f"{first} to {last}"

    def _start_of(self, day: date) -> datetime:
        return datetime.combine(day, time(), ZoneInfo(self.timezone)).astimezone(UTC)


def chosen_period(shop: Shop, query: dict[str, str], now: datetime) -> Period:
    """The period in the start page's URL: `period`, and for custom dates `from` and `to`."""
    today, name = shop.local_time(now).date(), query.get("period", USUAL)
    if name == "custom":
        first, last = _day(query.get("from", "")), _day(query.get("to", ""))
        if first and last and first <= last and (last - first).days < MAX_DAYS:
            return Period(name, first, last, shop.timezone)
    firsts = {"today": today, "7": today - timedelta(days=6), "month": today.replace(day=1)}
    usual = today - timedelta(days=29)
    is_known = name in NAMES and name != "custom"
    problem = WRONG_DATES if name == "custom" else ""
    return Period(name if is_known else USUAL, firsts.get(name, usual), today, shop.timezone, problem)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # Years that every time zone and database supports.
    return day if 2000 <= day.year <= 9000 else None

"""Filters of the admin's lists as chips. A filter's choices, each with the number of rows that it would leave, are read
when somebody opens it, so that they cost the list itself nothing."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

from django.http import Http404
from django.utils.text import capfirst

from storefront.kit.format import format_count

# The parameter with the number of the filter whose choices are asked for.
CHOICES_VAR = "_choices"
# More rows than this are not counted, and no further choice after this many seconds.
MAX_COUNT, MAX_SECONDS = 1000, 0.2
# More choices than this are offered without their numbers.
MAX_COUNTED_CHOICES = 30


@dataclass(frozen=True)
class Choice:
    """A choice of a filter. `count` is its number of rows as a text, empty if it was not counted."""

    text: str
    url: str
    is_chosen: bool = False
    count: str = ""


@dataclass(frozen=True)
class Chip:
    """A filter of a list: what is chosen, and the address without it. `choices_url` has its choices."""

    title: str
    number: int
    chosen: str
    without_url: str
    choices_url: str
    choices: list[Choice] = field(default_factory=list)


def chips_of(cl: Any) -> list[Chip]:
    """The filters of this list, without the choices."""
    return [chip for spec_number in range(len(cl.filter_specs)) if (chip := _chip(cl, spec_number))]


def with_counts(request: Any, cl: Any, number: str) -> Chip:
    """The filter with this number, and its choices. Raises Http404 if the list has none."""
    chip = _chip(cl, int(number)) if number.isascii() and number.isdigit() and len(number) < 3 else None
    if chip is None:
        raise Http404
    return replace(chip, choices=list(_counted(request, cl, list(_choices(cl, chip.number)))))


def _chip(cl: Any, number: int) -> Chip | None:
    if number >= len(cl.filter_specs):
        return None
    spec = cl.filter_specs[number]
    if getattr(spec, "is_shown_above", False):
        return None
    chosen = spec.chosen_text() if hasattr(spec, "chosen_text") else _chosen_of(cl, number)
    without = cl.get_query_string(remove=list(spec.expected_parameters()))
    opened = cl.get_query_string({CHOICES_VAR: str(number)})
    return Chip(str(capfirst(spec.title)), number, chosen, without, opened)


def _chosen_of(cl: Any, number: int) -> str:
    return next((choice.text for choice in _choices(cl, number)[1:] if choice.is_chosen), "")


def _choices(cl: Any, number: int) -> list[Choice]:
    """The choices of a filter; the first is that of all rows."""
    return [
        Choice(str(each["display"]), each["query_string"], bool(each["selected"]))
        for each in cl.filter_specs[number].choices(cl)
    ]


def _counted(request: Any, cl: Any, choices: list[Choice]) -> Iterator[Choice]:
    end = monotonic() + MAX_SECONDS
    for choice in choices:
        if len(choices) > MAX_COUNTED_CHOICES or monotonic() > end:
            yield choice
            continue
        narrowed = copy(cl)
        narrowed.filter_params = parse_qs(choice.url.removeprefix("?"))
        rows = narrowed.get_queryset(request).order_by().values("pk")[: MAX_COUNT + 1]
        count = rows.count()
        yield replace(choice, count=f"{format_count(MAX_COUNT)}+" if count > MAX_COUNT else format_count(count))

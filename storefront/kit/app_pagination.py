"""Pages of a list: which is asked for, and how the App API tells where it stands (decisions: Shop data endpoints)."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.kit.ids import LARGEST_ID

PER_PAGE, MOST_PER_PAGE = 24, 100
LAST_PAGE = LARGEST_ID


def _page_number(text: Any) -> int:
    number = _positive_integer(text)
    if number > LAST_PAGE:
        raise ValueError(f"must be an integer from 1 to {LAST_PAGE}")
    return number


def _page_size(text: Any) -> int:
    return min(_positive_integer(text), MOST_PER_PAGE)


def _positive_integer(text: Any) -> int:
    digits = str(text)
    if not (digits.isascii() and digits.isdigit()) or not digits.strip("0"):
        raise ValueError("must be an integer of at least 1")
    # Python will not read thousands of digits; the first twenty are as far beyond any page.
    return int(digits.lstrip("0")[:20])


PageNumber = Annotated[
    int,
    BeforeValidator(_page_number),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LAST_PAGE, "default": 1}),
]
PageSize = Annotated[
    int, BeforeValidator(_page_size), WithJsonSchema({"type": "integer", "minimum": 1, "default": PER_PAGE})
]


class PageQuery(Schema):
    """Which page of a list."""

    page: PageNumber = Field(1, description="Which page, from 1. Beyond the last: an empty one.")
    per_page: PageSize = Field(PER_PAGE, description="Records a page; more than 100 is taken as 100.")

    @property
    def start(self) -> int:
        """How many records stand before this page."""
        return (self.page - 1) * self.per_page


class Pagination(Schema):
    """Where this page stands among all."""

    current_page: int = Field(description="The page that was asked for.")
    last_page: int = Field(description="The last page that has anything; 1 where there is nothing.")
    per_page: int = Field(description="Records a page.")
    total: int = Field(description="How many records there are on all pages.")
    next_page_url: str | None = Field(description="The next page, with the same filters.")
    prev_page_url: str | None = Field(description="The page before, with the same filters.")


def pagination(
    *, page: int, per_page: int, total: int, path: str, given: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    """The `pagination` member of a list. `path` is the list's absolute URL; `given` the filters that page URLs keep."""
    last = max(1, -(-total // per_page))
    query = urlencode(given)
    prefix = f"{path}?{query}&page=" if query else f"{path}?page="
    # From beyond the end, the way back leads to the last page that has something.
    previous = min(page - 1, last) if page > 1 else None
    return {
        "current_page": page,
        "last_page": last,
        "per_page": per_page,
        "total": total,
        "next_page_url": f"{prefix}{page + 1}" if page < last else None,
        "prev_page_url": None if previous is None else f"{prefix}{previous}",
    }

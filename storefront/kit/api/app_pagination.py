"""Pagination of the App API's lists: the query parameters, and the `pagination` member (R-APP-30)."""

from collections.abc import Sequence
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.kit.api.pagination import last_page, neighbours, url_prefix
from storefront.kit.ids import MAX_ID

# Records per page: the default, and the maximum (R-LIM-2).
PER_PAGE, MAX_PER_PAGE = 24, 100
LAST_PAGE = MAX_ID


def _page_number(text: Any) -> int:
    number = _positive_integer(text)
    if number > LAST_PAGE:
        raise ValueError(f"must be an integer from 1 to {LAST_PAGE}")
    return number


def _page_size(text: Any) -> int:
    return min(_positive_integer(text), MAX_PER_PAGE)


def _positive_integer(text: Any) -> int:
    """Raises ValueError for anything but an integer of at least 1 (R-LIM-3)."""
    digits = str(text)
    if not (digits.isascii() and digits.isdigit()) or not digits.strip("0"):
        raise ValueError("must be an integer of at least 1")
    # Python refuses to parse thousands of digits. Twenty are already more than any page number.
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

    page: PageNumber = Field(1, description="Page number, starting at 1. A page after the last is empty.")
    per_page: PageSize = Field(PER_PAGE, description="Records per page. More than 100 is treated as 100.")

    @property
    def start(self) -> int:
        """Number of records before this page."""
        return (self.page - 1) * self.per_page


class Pagination(Schema):
    """The position of this page among all."""

    current_page: int = Field(description="The current page number.")
    last_page: int = Field(description="The last page number; 1 if there are no records.")
    per_page: int = Field(description="Records per page.")
    total: int = Field(description="Total number of records on all pages.")
    next_page_url: str | None = Field(description="URL of the next page, with the same filters; null on the last page.")
    prev_page_url: str | None = Field(
        description="URL of the previous page, with the same filters; null on the first page."
    )


def pagination(
    *, page: int, per_page: int, total: int, path: str, given: Sequence[tuple[str, str]] = (), deleted_total: int = 0
) -> dict[str, Any]:
    """The `pagination` member of a list. `path` is the list's absolute URL; `given` holds the filters to repeat in page
    URLs. `deleted_total` is how many entries of `deleted` all pages have."""
    last = last_page(max(total, deleted_total), per_page)
    prefix = url_prefix(path, given)
    previous, following = neighbours(page, last)
    return {
        "current_page": page,
        "last_page": last,
        "per_page": per_page,
        "total": total,
        "next_page_url": None if following is None else f"{prefix}{following}",
        "prev_page_url": None if previous is None else f"{prefix}{previous}",
    }

"""Shapes that every part of the API shares, for its OpenAPI description."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator, WithJsonSchema

from storefront.kit import money


def _moment(text: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text).upper())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("must be a timestamp such as 2026-11-21T07:30:00.000000Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # At the very ends of the calendar a zone can lead out of it.
        return moment.replace(tzinfo=UTC)


# A time that a caller gives, with its offset, in UTC.
Moment = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]

Money = Annotated[
    str,
    Field(
        pattern=r"^[0-9]+\.[0-9]{2}$",
        description="Decimal string with two fraction digits, in the shop's currency.",
        examples=["12.50"],
    ),
]
Measure = Annotated[
    str,
    Field(pattern=r"^[0-9]+\.[0-9]{3}$", description="Decimal string with three fraction digits.", examples=["0.250"]),
]
# Amounts that a caller gives: a decimal string, never a JSON number.
MoneyGiven = Annotated[
    Decimal,
    BeforeValidator(money.parse),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,2})?$"}),
]
Timestamp = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
        description="ISO 8601 UTC with six fraction digits.",
        examples=["2026-11-21T07:30:00.000000Z"],
    ),
]


class PageLink(Schema):
    """An entry of the page navigation."""

    url: str | None = Field(description="The page's URL; null where there is none.")
    label: str = Field(description="The page's number, or words, as HTML text.")
    page: int | None = Field(description="The page's number; null where there is none.")
    active: bool = Field(description="Whether it is the current page.")


class Envelope(Schema):
    """What stands around the `data` of a page (contract: Paginated envelope)."""

    current_page: int = Field(description="The page that was asked for.")
    first_page_url: str = Field(description="URL of the first page.")
    from_: int | None = Field(alias="from", description="Number of the first record on this page; null if empty.")
    last_page: int = Field(description="Number of the last page; page until here.")
    last_page_url: str = Field(description="URL of the last page.")
    links: list[PageLink] = Field(
        description="A previous entry, one per page, a next entry; above 1,000 pages those in the middle are left out."
    )
    next_page_url: str | None = Field(description="URL of the next page.")
    path: str = Field(description="URL of the list without parameters.")
    per_page: int = Field(description="Records a page.")
    prev_page_url: str | None = Field(description="URL of the page before.")
    to: int | None = Field(description="Number of the last record on this page; null if empty.")
    total: int = Field(description="How many records there are on all pages.")


class Error(Schema):
    """Why a request was not carried out."""

    message: str = Field(description="One sentence for people.")
    code: str = Field(description="A stable word for programs.", examples=["not_found"])


class IdAlone(Schema):
    """What a write answers to whoever may not read: writing does not imply reading."""

    id: int | str = Field(description="Its id, as the whole record has it.")


class FieldErrors(Error):
    """A refusal, by the fields that it is about."""

    errors: dict[str, list[str]] = Field(description="Messages by field.")
    available: int | None = Field(None, description="With `insufficient_stock`: how many can still be had.")


class ScopeError(Error):
    """The credential lacks a scope."""

    required_scopes: list[str] = Field(description="What the call needs.")
    granted_scopes: list[str] = Field(description="What the credential has.")


class Defect(Error):
    """A defect of the service."""

    request_id: str = Field(description="Names the request in the service's log.")


# The shape of an error by its status.
ERRORS: dict[int, type[Schema]] = {
    400: Error,
    401: Error,
    403: ScopeError,
    404: Error,
    409: Error,
    413: Error,
    415: Error,
    422: FieldErrors,
    429: Error,
    500: Defect,
    503: Error,
}


def answers(success: dict[int, Any], *errors: int) -> dict[int, Any]:
    """The `response=` of an operation: what it answers, what every call may meet, and its own error statuses.

    Errors have no shape here, since Ninja would make a model of each for every operation, and handlers need none of
    them: the description has their shapes (`server/openapi.py`).
    """
    return success | dict.fromkeys(sorted({401, 403, 429, 500, 503, *errors}))

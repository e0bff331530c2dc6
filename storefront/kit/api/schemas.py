"""Types and schemas that all parts of the API share."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import BeforeValidator, ConfigDict, WithJsonSchema

from storefront.kit import money
from storefront.kit.ids import MAX_ID

# The rest of an offset such as +01:00 whose plus sign was not encoded in a query.
_SPACE_FOR_PLUS = re.compile(r" \d\d:?\d\d$")


def _moment(text: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text).upper())
    except ValueError:
        moment = None
    if moment is None and _SPACE_FOR_PLUS.search(str(text)):
        raise ValueError("must have its `+` encoded as %2B, or its time in UTC with a Z")
    if moment is None or moment.tzinfo is None:
        raise ValueError("must be a timestamp such as 2026-11-21T07:30:00.000000Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # At the ends of the calendar, the conversion can leave the range of datetime.
        return moment.replace(tzinfo=UTC)


# An id in a request body: a JSON number, never a string.
Id = Annotated[int, Field(strict=True, ge=1, le=MAX_ID)]
# An id in a path. Declared as text, so that other text gives a 404 and not a 422.
PathId = Annotated[str, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_ID})]
# A time in a request, which must have an offset; converted to UTC.
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
# An amount in a request: a decimal string, never a JSON number.
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


def _without_defaults(schema: dict[str, Any]) -> None:
    for member in schema.get("properties", {}).values():
        member.pop("default", None)


class Change(Schema):
    """The body of a PATCH, or an entry of one of its lists: members that are not sent do not change. The description
    shows no defaults, since generated clients would send them."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)


class ListedChange(Change):
    """An entry of a list in a PATCH. Entries that are not sent stay."""

    id: Id | None = Field(None, description="Id of an existing entry to update. Without it, a new entry is added.")
    remove: Annotated[bool, Field(strict=True)] = Field(
        False, description="Send `true` with the `id` to remove the entry."
    )


class PageLink(Schema):
    """An entry of the page navigation."""

    url: str | None = Field(description="The page's URL; null if there is none.")
    label: str = Field(description="The page number or a label, as HTML text.")
    page: int | None = Field(description="The page number; null if there is none.")
    active: bool = Field(description="Whether this is the current page.")


class Envelope(Schema):
    """A page of records (R-CAT-16)."""

    current_page: int = Field(description="The current page number.")
    first_page_url: str = Field(description="URL of the first page.")
    from_: int | None = Field(
        alias="from", description="Position of the first record on this page; null if the page is empty."
    )
    last_page: int = Field(description="The last page number. Use it to read all pages.")
    last_page_url: str = Field(description="URL of the last page.")
    links: list[PageLink] = Field(
        description="A previous entry, one per page and a next entry. Above 1,000 pages, some are left out."
    )
    next_page_url: str | None = Field(description="URL of the next page.")
    path: str = Field(description="URL of the list without query parameters.")
    per_page: int = Field(description="Records per page.")
    prev_page_url: str | None = Field(description="URL of the previous page.")
    to: int | None = Field(description="Position of the last record on this page; null if the page is empty.")
    total: int = Field(description="Total number of records on all pages.")


class Error(Schema):
    """Why the request was not carried out."""

    message: str = Field(description="Human-readable message, one sentence.")
    code: str = Field(description="Stable error code for programs.", examples=["not_found"])
    doc_url: str = Field(
        description="Path of the page that explains the code and what to do about it.",
        examples=["/api/docs/errors#not_found"],
    )
    request_id: str = Field(description="The request's id in the service's log.")


class IdAlone(Schema):
    """The response to a write by a caller without the read scope: write scopes do not include read scopes."""

    id: int | str = Field(description="The record's id.")


class FieldProblem(Schema):
    """A problem of one field. Some codes add members that help, such as `allowed` or `maximum`."""

    model_config = ConfigDict(extra="allow")

    field: str = Field(description="The field's name, as in `errors`.", examples=["qty"])
    code: str = Field(description="Stable code of the problem for programs.", examples=["too_small"])
    message: str = Field(description="Human-readable message.", examples=["qty must be 1 or more."])


class FieldErrors(Error):
    """Validation errors by field."""

    errors: dict[str, list[str]] = Field(description="Error messages by field.")
    problems: list[FieldProblem] = Field(description="The same for programs, with what helps to correct it.")
    available: int | None = Field(
        None,
        description="Only with `insufficient_stock`: the largest `qty` with which the same call would have succeeded.",
    )


class ScopeError(Error):
    """The token lacks a scope."""

    required_scopes: list[str] = Field(description="Scopes that the call requires.")
    granted_scopes: list[str] = Field(description="Scopes that the token has.")


class MalformedBody(Error):
    """The body cannot be read."""

    line: int | None = Field(None, description="Only with `malformed_json`: the line where reading stopped, from 1.")
    column: int | None = Field(None, description="Only with `malformed_json`: the column there, from 1.")


# The schema of an error by its status.
ERRORS: dict[int, type[Schema]] = {
    400: MalformedBody,
    401: Error,
    403: ScopeError,
    404: Error,
    409: Error,
    412: Error,
    413: Error,
    415: Error,
    422: FieldErrors,
    429: Error,
    500: Error,
    503: Error,
}


def answers(success: dict[int, Any], *errors: int) -> dict[int, Any]:
    """The `response=` of an operation: its successful responses (R-CALL-10), the errors of every call, and its own
    error statuses.

    Errors have no schema here, since Ninja would build models for every operation that no handler needs.
    `server/api/openapi.py` adds their schemas to the OpenAPI document.
    """
    return success | dict.fromkeys(sorted({401, 403, 429, 500, 503, *errors}))

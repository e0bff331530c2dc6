"""Shapes that every part of the API shares, for its OpenAPI description."""

from typing import Annotated, Any

from ninja import Field, Schema

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
Timestamp = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$",
        description="ISO 8601 UTC with six fraction digits.",
        examples=["2026-11-21T07:30:00.000000Z"],
    ),
]


class Error(Schema):
    """Why a request was not carried out."""

    message: str = Field(description="One sentence for people.")
    code: str = Field(description="A stable word for programs.", examples=["not_found"])


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


_ERRORS: dict[int, type[Schema]] = {
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
    """The `response=` of an operation: what it answers, what every call may meet, and its own error statuses."""
    return success | {status: _ERRORS[status] for status in sorted({401, 403, 429, 500, 503, *errors})}

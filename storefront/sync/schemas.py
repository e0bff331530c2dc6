"""The parameters and members of lists that clients keep a copy of."""

from ninja import Field, Schema

from storefront.kit.api.app_pagination import PageQuery
from storefront.kit.api.members import Ids
from storefront.kit.api.schemas import Moment, Timestamp

AFTER = (
    "Send it without a value to begin a copy of the list, then the `next` of each answer. The answer is `data`, "
    "`deleted` and `next` instead of a page."
)
SINCE = (
    "Only those changed at or after this time. Include the offset, `Z` or `+00:00`. The answer has `deleted` as well."
)
IDS = "Only records with these ids: up to 100, separated by commas."
FIELDS = "Only these members of each record: names, separated by commas."
INCLUDE = "Members of the single record that the list shows as well: names, separated by commas."


class CopyQuery(PageQuery):
    """Which page of a list, or which part of a copy of it."""

    updated_since: Moment | None = Field(None, description=SINCE, examples=["2026-11-21T07:30:00.000000Z"])
    ids: Ids | None = Field(None, description=IDS, examples=["12,34"])
    after: str | None = Field(None, description=AFTER)


class Deleted(Schema):
    """A record that the list no longer has."""

    id: int = Field(description="The record's id.")
    at: Timestamp = Field(description="When it was deleted, hidden or last changed.")


class DeletedItem(Schema):
    """A stock item that is no longer there."""

    id: str = Field(description="The item's id.")
    at: Timestamp = Field(description="When it was last changed.")


DELETED = (
    "Only with `updated_since`: what the list has no longer had since then. A page has up to `per_page` of them beside "
    "its records. Null if that is more than 30 days ago."
)
DELETED_OF_RUN = "What the list no longer has. Can name records that you have never had."
NEXT = (
    "The cursor to go on with: send it as `after`. Where both lists are empty, there is nothing more now; send it "
    "again later."
)

"""Exports in requests and responses."""

from typing import Annotated, Any, Literal

from ninja import Field, Schema

from storefront.exports.links import link_to
from storefront.exports.models import Export
from storefront.kit.api.schemas import IdAlone, Moment, Timestamp
from storefront.kit.clock import timestamp
from storefront.shops.request import Request

Names = Annotated[list[Annotated[str, Field(strict=True, max_length=100)]], Field(max_length=200)]


class ExportGiven(Schema):
    """Which records to export."""

    kind: Literal["products", "inventory", "orders", "customers"] = Field(
        description="Which records: those that the list `/api/v1/<kind>` has."
    )
    fields: Names | None = Field(None, description="Names of the only members to export. By default those of the list.")
    include: Names | None = Field(None, description="Names of members of the single record to export as well.")
    updated_since: Moment | None = Field(None, description="Only records changed at or after this time.")


class ExportRecord(Schema):
    """An export."""

    id: int = Field(description="The export's id.")
    kind: Literal["products", "inventory", "orders", "customers"] = Field(description="Which records it has.")
    state: Literal["waiting", "running", "done", "failed"] = Field(description="Ask again until it is done or failed.")
    rows: int = Field(description="Records written so far.")
    size: int = Field(description="The file's size in bytes; 0 until it is done.")
    url: str | None = Field(
        description="Where to get the file, JSON Lines compressed with gzip, without a token: keep it secret. Null "
        "until it is done."
    )
    url_expires_at: Timestamp | None = Field(description="When `url` ends. Each answer has a new one.")
    next: str | None = Field(description="The cursor to go on with, as `after` of the list. Null until it is done.")
    reason: str = Field(description="Why it failed; otherwise empty.")
    created_at: Timestamp = Field(description="When it was asked for.")
    finished_at: Timestamp | None = Field(description="When it was done or failed. It is deleted a day later.")


class OneExport(Schema):
    """One export."""

    data: ExportRecord = Field(description="The export.")


class NewExport(Schema):
    """The export that was started."""

    data: ExportRecord | IdAlone = Field(description="The export.")


def export_record(request: Request, export: Export) -> dict[str, Any]:
    is_done = export.state == Export.State.DONE
    url, ends = link_to(export, now=request.now) if is_done else (None, None)
    return {
        "id": export.pk,
        "kind": export.kind,
        "state": export.state,
        "rows": export.rows,
        "size": export.size,
        "url": url,
        "url_expires_at": timestamp(ends),
        "next": export.next if is_done else None,
        "reason": export.reason,
        "created_at": timestamp(export.created_at),
        "finished_at": timestamp(export.finished_at),
    }

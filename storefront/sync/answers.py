"""Builds the JSON of answers to clients that copy a list, for both APIs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from django.http import HttpResponse

from storefront.kit.api.http import JSON
from storefront.kit.ids import MAX_ID
from storefront.kit.refusals import InvalidFields
from storefront.shops.request import Request
from storefront.sync import feed
from storefront.sync.feed import Deletion, Source
from storefront.sync.schemas import CopyQuery

# Parameters that can be sent with `after` (R-SYNC-10).
WITH_AFTER = ("after", "per_page", "fields", "include", "locale")


def answer_run(request: Request, source: Source, asked: CopyQuery, name: str = "data") -> HttpResponse:
    """The next part of a copy: the records under this name, `deleted` and `next` (R-SYNC-2). Raises InvalidFields for
    parameters of the list that cannot be sent with `after`, InvalidCursor and CursorExpired."""
    others = [each for each in request.GET if each in type(asked).model_fields and each not in WITH_AFTER]
    if others:
        raise InvalidFields(errors={each: [f"{each} cannot be sent with after."] for each in others})
    answer = feed.read(source, asked.after or "", count=asked.per_page, now=request.now)
    # No two answers are the same, so they are not cached (R-SYNC-13).
    body = (
        f'{{"{name}":[{",".join(answer.records_json)}],"deleted":{orjson.dumps(_records(answer.deleted)).decode()},'
        f'"next":{orjson.dumps(answer.next).decode()}}}'
    )
    return HttpResponse(body, content_type=JSON, headers={"Cache-Control": "no-store"})


def deleted_beside(source: Source, asked: CopyQuery, *, now: datetime) -> dict[str, Any]:
    """The arguments of `envelope` for the member `deleted` of a page: none without `updated_since` (R-SYNC-11)."""
    member, total = deleted_of_app(source, asked, now=now)
    return {"deleted": orjson.dumps(member["deleted"]).decode(), "deleted_total": total} if member else {}


def deleted_of_app(source: Source, asked: CopyQuery, *, now: datetime) -> tuple[dict[str, Any], int]:
    """Like `deleted_beside`, for the App API: the member, if any, and how many entries all pages have."""
    if asked.updated_since is None:
        return {}, 0
    start = min((asked.page - 1) * asked.per_page, MAX_ID)
    deleted, total = feed.deleted_since(source, asked.updated_since, start=start, count=asked.per_page, now=now)
    return {"deleted": _records(deleted)}, total


def _records(deleted: Sequence[Deletion] | None) -> list[dict[str, Any]] | None:
    return None if deleted is None else [each.record for each in deleted]

"""The attributes that `server/middleware.py` and authentication add to a request, for type checkers and readers."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse

from storefront.kit.api.conditional import record_response
from storefront.kit.api.http import json_response
from storefront.pods.directory import Misdirected
from storefront.shops.models import Shop
from storefront.shops.ratelimit import Quota
from storefront.shops.rights import Right


@dataclass(frozen=True)
class Caller:
    """The owner of a credential: its shop, granted scopes, the token's digest, rate limit (None: no limit) and expiry,
    the app installation that it belongs to, if any, and the token's id and name."""

    shop: Shop
    scopes: frozenset[str]
    digest: str
    requests_per_minute: int | None = None
    expires_at: datetime | None = None
    installation_id: int | None = None
    token_id: int | None = None
    name: str = ""

    @property
    def counted_as(self) -> str:
        """The name under which calls are counted. All tokens of an installation share one limit (R-LIM-7)."""
        return self.digest if self.installation_id is None else f"installation:{self.installation_id}"


class Request(HttpRequest):
    """Under /api, `caller`, `shop` and, if it has a limit, `quota` come from the credential; on a page, `place` and
    `shop` come from the host."""

    now: datetime
    id: str
    place: str
    # On a page, the code of its language (`shops/languages.py`), one of the shop's.
    language: str
    caller: Caller
    shop: Shop
    # Set if another pod serves the shop of the page.
    misdirected: Misdirected | None
    quota: Quota
    # The JSON object that was sent as the body.
    given: dict[str, Any]
    # The read scope that the response needs, if it shows a whole record.
    read_scope: str


def calling_installation(request: Request) -> int:
    """The id of the calling app's installation, in an endpoint with `app_scope`, which admits only apps."""
    assert request.caller.installation_id is not None
    return request.caller.installation_id


def record_or_id(request: Request, record: dict[str, Any], *, reading: str) -> dict[str, Any]:
    """The response to a write: the record, or only its id if the caller lacks the read scope `reading`, since write
    scopes do not imply read scopes (R-CALL-20). Sets `request.read_scope`, for replays of the response."""
    if reading not in request.caller.scopes:
        return id_only(record)
    request.read_scope = reading
    return record


def written_response(
    request: Request, member: str, record: dict[str, Any], *, reading: str, status: int = 200
) -> HttpResponse:
    """The response to a write: `{member: record}` with the ETag that a read of it has, or only its id (R-CALL-20)."""
    shown = record_or_id(request, record, reading=reading)
    respond = partial(record_response, request) if shown is record else json_response
    return respond({member: shown}, status=status)


def id_only(record: dict[str, Any]) -> dict[str, Any]:
    return {"id": record["id"]}


class StaffRequest(Request):
    """In the admin, `shop` is the session's shop, and `rights` are the user's rights in it."""

    rights: frozenset[Right]

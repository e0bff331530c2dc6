"""What a request carries once it is inside, for type checkers and readers; `server/middleware.py` sets it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest

from storefront.shops.models import Shop
from storefront.shops.ratelimit import Quota


@dataclass(frozen=True)
class Caller:
    """Who a credential stands for: one shop, the scopes granted, the digest that names the credential, how often it
    may call (None: no limit) and until when, and the installation of an app that it belongs to, if any."""

    shop: Shop
    scopes: frozenset[str]
    digest: str
    requests_per_minute: int | None = None
    expires_at: datetime | None = None
    installation_id: int | None = None

    def told(self, record: dict[str, Any], *, reading: str) -> dict[str, Any]:
        """What a write answers: who lacks the scope for reading learns the id alone, as from an event, since writing
        does not imply reading (decisions: Scopes)."""
        return record if reading in self.scopes else {"id": record["id"]}

    @property
    def counted_as(self) -> str:
        """What its calls are counted under: an app that changes its token keeps one limit."""
        return self.digest if self.installation_id is None else f"installation:{self.installation_id}"


class Request(HttpRequest):
    """Under /api, `caller` and `shop` come from the credential, and `quota` where it has a limit; on a page, `shop`
    comes from the host."""

    now: datetime
    id: str
    caller: Caller
    shop: Shop
    quota: Quota
    representation: bytes


class StaffRequest(Request):
    """In the admin, `shop` is the one the session works on, and the user is its owner or its staff."""

    is_owner: bool

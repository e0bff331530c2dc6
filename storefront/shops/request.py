"""What a request carries once it is inside, for type checkers and readers; `server/middleware.py` sets it."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest

from storefront.shops.models import Shop
from storefront.shops.ratelimit import Quota


@dataclass(frozen=True)
class Caller:
    """Who a credential stands for: one shop, the scopes granted, the digest that names the credential, and how
    often it may call (None: no limit) and until when."""

    shop: Shop
    scopes: frozenset[str]
    digest: str
    requests_per_minute: int | None = None
    expires_at: datetime | None = None


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

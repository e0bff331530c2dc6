"""What a request carries once it is inside, for type checkers and readers; `server/middleware.py` sets it."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest

from storefront.shops.models import Shop


@dataclass(frozen=True)
class Caller:
    """Who a credential stands for: one shop, the scopes granted, and the digest that names the credential."""

    shop: Shop
    scopes: frozenset[str]
    digest: str


class Request(HttpRequest):
    """Under /api, `caller` and `shop` come from the credential; on a page, `shop` from the host."""

    now: datetime
    id: str
    caller: Caller
    shop: Shop

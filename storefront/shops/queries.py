from datetime import UTC, datetime

import orjson
from django.db import connection
from django.db.models import QuerySet

from storefront.kit import tokens
from storefront.shops.models import AllowedOrigin, ApiToken, Shop, User
from storefront.shops.request import Caller


def shop_of_host(host: str) -> Shop | None:
    """The shop whose pages this `Host` header means: by domain without port, or the only shop there is
    (decisions: Which shop a page means)."""
    domain = host.partition(":")[0].lower()
    found = Shop.objects.filter(is_active=True, domain=domain).first()
    if found:
        return found
    active = list(Shop.objects.filter(is_active=True)[:2])
    return active[0] if len(active) == 1 else None


def api_token(token: str | None) -> ApiToken | None:
    """The stored token, with its shop; None unless the text has the form of one and is known."""
    if not tokens.is_well_formed(token, "api"):
        return None
    found = ApiToken.objects.select_related("shop").filter(digest=tokens.digest(token)).first()
    return found if found and found.shop.is_active else None


# Written out because every call of the API runs it: the ORM takes five times as long to put it together.
_CALLER = """
    SELECT shop.*, token.digest AS token_digest, token.scopes AS token_scopes, token.requests_per_minute AS token_limit,
    token.expires_at AS token_end
    FROM shops_apitoken token JOIN shops_shop shop ON shop.id = token.shop_id
    WHERE token.digest = %s AND shop.is_active
    AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > %s)
"""


def caller(token: str | None, *, now: datetime) -> Caller | None:
    """Whoever a token stands for; None unless it has the form of one, is known, and is neither revoked, expired nor of
    a closed shop."""
    if not tokens.is_well_formed(token, "api"):
        return None
    moment = connection.ops.adapt_datetimefield_value(now)
    for shop in Shop.objects.raw(_CALLER, [tokens.digest(token), moment]):
        found = vars(shop)
        scopes = frozenset(orjson.loads(found["token_scopes"]))
        return Caller(shop, scopes, found["token_digest"], found["token_limit"], _aware(found["token_end"]))
    return None


def _aware(moment: datetime | str | None) -> datetime | None:
    """A time as the cursor gives it, which on SQLite is text, in UTC without saying so."""
    return datetime.fromisoformat(moment).replace(tzinfo=UTC) if isinstance(moment, str) else moment


def origin_is_allowed(origin: str, *, shop: Shop | None = None) -> bool:
    """Whether a browser script from this origin may call the shop's API; without a shop, any shop's."""
    allowed = AllowedOrigin.objects.filter(origin=origin)
    return (allowed.filter(shop=shop) if shop else allowed).exists()


def shops_of(user: User) -> QuerySet[Shop]:
    """The shops whose admin this user may enter: all for the operator, else those they are staff of."""
    shops = Shop.objects.order_by("name")
    return shops if user.is_superuser else shops.filter(staff__user=user)

from datetime import datetime

from django.db import connection
from django.db.models import QuerySet

from storefront.kit import tokens
from storefront.kit.sql import Columns, fetch
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
_SHOP = Columns(Shop)
_TOKEN = Columns(ApiToken, "digest", "scopes", "requests_per_minute", "expires_at", "installation_id")
_CALLER = f"""
    SELECT {_SHOP.of("shop")}, {_TOKEN.of("token")}
    FROM shops_apitoken token JOIN shops_shop shop ON shop.id = token.shop_id
    WHERE token.digest = %(digest)s AND shop.is_active
    AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > %(now)s)
"""  # noqa: S608, what is put together here is column lists; values are parameters


def caller(token: str | None, *, now: datetime) -> Caller | None:
    """Whoever a token of a shop or of an installation stands for; None unless it has the form of one, is known, and is
    neither revoked, expired nor of a closed shop."""
    if not (tokens.is_well_formed(token, "api") or tokens.is_well_formed(token, "app")):
        return None
    moment = connection.ops.adapt_datetimefield_value(now)
    for row in fetch(connection, _CALLER, {"digest": tokens.digest(token), "now": moment}):
        known = _TOKEN.instance(connection, row[len(_SHOP) :])
        return Caller(
            _SHOP.instance(connection, row),
            frozenset(known.scopes),
            digest=known.digest,
            requests_per_minute=known.requests_per_minute,
            expires_at=known.expires_at,
            installation_id=known.installation_id,
        )
    return None


def origin_is_allowed(origin: str, *, shop: Shop | None = None) -> bool:
    """Whether a browser script from this origin may call the shop's API; without a shop, any shop's."""
    allowed = AllowedOrigin.objects.filter(origin=origin)
    return (allowed.filter(shop=shop) if shop else allowed).exists()


def shops_of(user: User) -> QuerySet[Shop]:
    """The shops whose admin this user may enter: all for the operator, else those they are staff of."""
    shops = Shop.objects.order_by("name")
    return shops if user.is_superuser else shops.filter(staff__user=user)

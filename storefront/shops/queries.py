from datetime import datetime

from django.db import connection
from django.db.models import QuerySet

from storefront.kit import tokens
from storefront.kit.sql import Columns, fetch
from storefront.pods import directory
from storefront.shops.models import AllowedOrigin, ApiToken, Shop, User
from storefront.shops.request import Caller


def shop_of_host(host: str) -> Shop | None:
    """The shop for this `Host` header: by domain, without port, also if it is closed (`website/closed.py`); otherwise
    the only active shop if no pod has another (R-CALL-12). Raises Misdirected if another pod serves its shop."""
    domain = host.partition(":")[0].lower()
    found = shop_here(domain)
    if found:
        return found
    active = list(Shop.objects.filter(is_active=True)[:2])
    return active[0] if len(active) == 1 and directory.is_alone() else None


def shop_here(domain: str) -> Shop | None:
    """The shop with exactly this domain, also if it is closed. Raises Misdirected if another pod serves it."""
    found = shop_of_domain(domain)
    # An open shop of another pod comes before a closed one of this.
    if found is None or not found.is_active:
        directory.require_host_here(domain)
    return found


def shop_of_domain(domain: str) -> Shop | None:
    """The shop with exactly this domain, active or closed."""
    # PostgreSQL refuses NUL characters in texts.
    return Shop.objects.filter(domain=domain).first() if "\0" not in domain else None


def shop_of_further_domain(domain: str) -> Shop | None:
    """The shop, active or closed, that has this as a confirmed further domain."""
    of_it = {"further_domains__domain": domain, "further_domains__confirmed_at__isnull": False}
    return Shop.objects.filter(**of_it).first() if "\0" not in domain else None


def api_token(token: str | None) -> ApiToken | None:
    """The token's row, with its shop; None for unknown tokens and inactive shops. May be revoked or expired."""
    if not tokens.is_well_formed(token, "api"):
        return None
    found = ApiToken.objects.select_related("shop").filter(digest=tokens.digest(token)).first()
    return found if found and found.shop.is_active else None


# Hand-written SQL, since every API call runs it and the ORM takes five times as long to build it.
_SHOP = Columns(Shop)
_TOKEN = Columns(ApiToken, "id", "name", "digest", "scopes", "requests_per_minute", "expires_at", "installation_id")
_CALLER = f"""
    SELECT {_SHOP.of("shop")}, {_TOKEN.of("token")}
    FROM shops_apitoken token JOIN shops_shop shop ON shop.id = token.shop_id
    WHERE token.digest = %(digest)s AND shop.is_active
    AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > %(now)s)
"""  # noqa: S608, only column lists are inserted; values are parameters


def caller(token: str | None, *, now: datetime) -> Caller | None:
    """The caller of a token of a shop or an installation; None if the token is unknown, revoked or expired, or its shop
    is inactive: callers cannot tell these apart (R-ERR-3)."""
    if not (tokens.is_well_formed(token, "api") or tokens.is_well_formed(token, "app")):
        return None
    moment = connection.ops.adapt_datetimefield_value(now)
    for row in fetch(connection, _CALLER, {"digest": tokens.digest(token), "now": moment}):
        found = _TOKEN.instance(connection, row[len(_SHOP) :])
        return Caller(
            _SHOP.instance(connection, row),
            frozenset(found.scopes),
            digest=found.digest,
            requests_per_minute=found.requests_per_minute,
            expires_at=found.expires_at,
            installation_id=found.installation_id,
            token_id=found.pk,
            name=found.name,
        )
    return None


def is_expired(token: str, *, now: datetime) -> bool:
    """Whether the token of an active shop would be valid if it had not expired."""
    valid = ApiToken.objects.filter(digest=tokens.digest(token), revoked_at=None, shop__is_active=True)
    return valid.filter(expires_at__lte=now).exists()


def origin_is_allowed(origin: str, *, shop: Shop | None = None) -> bool:
    """Returns True if a browser script from this origin may call the shop's API; without `shop`, that of any shop."""
    allowed = AllowedOrigin.objects.filter(origin=origin)
    return (allowed.filter(shop=shop) if shop else allowed).exists()


def shops_of(user: User) -> QuerySet[Shop]:
    """The shops whose admin this user may enter: all for the operator, otherwise those where they are staff."""
    shops = Shop.objects.order_by("name")
    return shops if user.is_superuser else shops.filter(staff__user=user)

from django.db.models import QuerySet

from storefront.kit import tokens
from storefront.shops.models import AllowedOrigin, ApiToken, Shop, User


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


def origin_is_allowed(origin: str, *, shop: Shop | None = None) -> bool:
    """Whether a browser script from this origin may call the shop's API; without a shop, any shop's."""
    allowed = AllowedOrigin.objects.filter(origin=origin)
    return (allowed.filter(shop=shop) if shop else allowed).exists()


def shops_of(user: User) -> QuerySet[Shop]:
    """The shops whose admin this user may enter: all for the operator, else those they are staff of."""
    shops = Shop.objects.order_by("name")
    return shops if user.is_superuser else shops.filter(staff__user=user)

from datetime import UTC, datetime

from storefront.shops.models import Shop
from storefront.shops.scopes import SCOPES
from storefront.staff import actions

NOW = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)


def make_shop(domain: str = "shop.example.com", **given) -> Shop:
    given = {
        "name": "Lighthouse",
        "base_url": f"https://{domain}",
        "now": NOW,
        "payment_methods": ("manual", "demo"),
        "is_demo": True,
    } | given
    return actions.create_shop(domain=domain, **given)


def make_token(shop: Shop, *scopes: str) -> str:
    return actions.create_api_token(shop=shop, scopes=list(scopes or SCOPES), name="test", now=NOW)[1]

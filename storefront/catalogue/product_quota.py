"""The quota of products (`shops.quotas`): those that are not deleted."""

from storefront.catalogue import tree
from storefront.catalogue.models import Product
from storefront.shops import quotas
from storefront.shops.models import Shop


def product_count(shop: Shop) -> int:
    return Product.objects.filter(shop=shop, deleted_at=None).count()


def check_room(shop: Shop, adding: int = 1) -> None:
    """Raises QuotaReached if the shop cannot have so many products more. Locks the shop like changes of its tree and
    imports do, so that of two at once the second counts the first one's products. Call it in their transaction."""
    if adding and (most := quotas.limits_of(shop.pk)["products"]):
        tree.lock(shop)
        quotas.check("products", most=most, count=lambda: product_count(shop), adding=adding)

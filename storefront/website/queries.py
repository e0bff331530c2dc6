"""What the shopper's pages read beyond the catalogue's own records."""

from storefront.catalogue.models import Category
from storefront.shops.models import Shop

MAIN_CATEGORIES = 10


def main_categories(shop: Shop) -> list[Category]:
    """The first main categories of the shop, in its order, for the navigation."""
    return list(Category.objects.filter(shop=shop, parent=None, is_active=True).order_by("lft")[:MAIN_CATEGORIES])

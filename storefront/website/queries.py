"""What the shopper's pages read beyond the catalogue's own records: a handful of reads for a whole page at once."""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery, Sum

from storefront.carts import rules as cart_rules
from storefront.carts.goods import Goods, load_goods
from storefront.carts.models import Cart, CartLine
from storefront.catalogue.models import Category, Media, Option, Product, ProductCategory, Variant
from storefront.catalogue.queries import published_products
from storefront.catalogue.records import media_url
from storefront.kit.money import ZERO
from storefront.pricing.queries import NO_TERMS, GroupTerms
from storefront.shops.models import Shop
from storefront.website.offers import VariantRange

MAIN_CATEGORIES = 10


def main_categories(shop: Shop) -> list[Category]:
    """The first main categories of the shop, in its order, for the navigation."""
    return list(Category.objects.filter(shop=shop, parent=None, is_active=True).order_by("lft")[:MAIN_CATEGORIES])


def category_path(shop: Shop, category: Category) -> list[Category]:
    """The active categories above this one, from the main category down."""
    above = Category.objects.filter(shop=shop, is_active=True, lft__lt=category.lft, rgt__gt=category.rgt)
    return list(above.order_by("lft"))


def subcategories(shop: Shop, category: Category) -> list[Category]:
    """The active categories directly under this one."""
    return list(Category.objects.filter(shop=shop, is_active=True, parent=category).order_by("lft"))


def active_category(shop: Shop, slug: str) -> Category | None:
    if "\0" in slug:
        return None
    return Category.objects.filter(shop=shop, is_active=True, slug=slug).first()


def category_pictures(shop: Shop, categories: Collection[Category], now: datetime) -> dict[int, str | None]:
    """For each category its own image's address, else that of a product in it."""
    without = [category.pk for category in categories if not category.image]
    # In the order of the links' index, so that one row is read a category however many products it has.
    links = ProductCategory.objects.filter(
        shop=shop,
        category=OuterRef("pk"),
        product__in=published_products(shop, now).filter(exclude_from_catalog=False),
        product__media__isnull=False,
    )
    shown = dict(
        Category.objects.filter(shop=shop, pk__in=without).values_list(
            "pk", Subquery(links.order_by("product_id").values("product_id")[:1])
        )
        if without
        else ()
    )
    first: dict[int, str | None] = {}
    for media in Media.objects.filter(shop=shop, product_id__in=[pk for pk in shown.values() if pk]):
        first.setdefault(media.product_id, media_url(shop, media.file.name, media.source_url))
    own = {category.pk: media_url(shop, category.image.name) for category in categories if category.image}
    return own | {pk: first.get(product_id) for pk, product_id in shown.items()}


def variant_ranges(shop: Shop, product_ids: Collection[int], terms: GroupTerms = NO_TERMS) -> dict[int, VariantRange]:
    """The active variants of these products, summed up, at the prices that the terms give them."""
    if not product_ids:
        return {}
    rows = Variant.objects.filter(shop=shop, product_id__in=product_ids, is_active=True).order_by("price", "pk")
    found: dict[int, list[Variant]] = {}
    for variant in rows.only(
        "product_id", "price", "compare_price", "is_active", "track_inventory", "allow_backorders", "stock_qty"
    ):
        found.setdefault(variant.product_id, []).append(variant)
    return {product_id: _range(variants, terms) for product_id, variants in found.items()}


def _range(variants: list[Variant], terms: GroupTerms) -> VariantRange:
    for variant in variants:
        variant.price = terms.price_of(variant.price, variant.product_id, variant.pk)
    # In the order of the prices that the visitor pays; equal ones stay as they were read.
    variants = sorted(variants, key=lambda variant: variant.price)
    sellable = [variant for variant in variants if variant.can_sell(1)]
    return VariantRange(
        lowest=variants[0].price,
        highest=variants[-1].price,
        compare_of_lowest=variants[0].compare_price,
        can_sell=bool(sellable),
        only_backorder=all(variant.track_inventory and variant.stock_qty <= 0 for variant in sellable),
    )


def required_options(shop: Shop, product_ids: Collection[int]) -> dict[int, tuple[Decimal, bool]]:
    """For products with required options: the least that they add to the price, and whether they may add more."""
    if not product_ids:
        return {}
    least: dict[int, tuple[Decimal, bool]] = {}
    options = Option.objects.filter(shop=shop, product_id__in=product_ids, required=True)
    prices: dict[tuple[int, int], set[Decimal]] = {}
    for product_id, option_id, price in options.values_list("product_id", "pk", "values__price"):
        prices.setdefault((product_id, option_id), set()).add(price or ZERO)
    for (product_id, _), amounts in prices.items():
        amount, spread = least.get(product_id, (ZERO, False))
        least[product_id] = (amount + min(amounts), spread or len(amounts) > 1)
    return least


def bundle_limits(shop: Shop, product_ids: Collection[int]) -> dict[int, int | None]:
    """How many of each bundle its parts' stock allows; None without a limit."""
    if not product_ids:
        return {}
    goods = load_goods(shop, [(product_id, None) for product_id in product_ids])
    return {product_id: _bundle_limit(found) for (product_id, _), found in goods.items()}


def bundle(shop: Shop, product_id: int) -> tuple[dict[int, int | None], list[dict[str, Any]]]:
    """The bundle's limit as above, and its parts as a basket's line would hold them."""
    goods = load_goods(shop, [(product_id, None)])
    found = goods[product_id, None]
    return {product_id: _bundle_limit(found)}, found.bundle_items


def _bundle_limit(goods: Goods) -> int | None:
    one = cart_rules.stock_uses(goods.product.pk, None, 1, bundle_items=goods.bundle_items)
    return cart_rules.most_that_fit(one, {}, goods.levels)


def basket_count(cart: Cart) -> int:
    """How many pieces are in the basket."""
    return CartLine.objects.filter(shop=cart.shop_id, cart=cart).aggregate(pieces=Sum("qty"))["pieces"] or 0


def sitemap_products(shop: Shop, now: datetime, *, start: int, end: int) -> list[tuple[str, datetime]]:
    """Slug and last change of the products that search engines may list, of one part of the sitemap."""
    found = _in_sitemap(shop, now).order_by("pk").values_list("slug", "sitemap_lastmod", "updated_at")[start:end]
    return [(slug, lastmod or updated) for slug, lastmod, updated in found]


def sitemap_size(shop: Shop, now: datetime) -> int:
    return _in_sitemap(shop, now).count()


def sitemap_categories(shop: Shop) -> list[tuple[str, datetime]]:
    found = Category.objects.filter(shop=shop, is_active=True, noindex=False).order_by("lft")
    return [
        (slug, lastmod or updated)
        for slug, lastmod, updated in found.values_list("slug", "sitemap_lastmod", "updated_at")
    ]


def _in_sitemap(shop: Shop, now: datetime) -> QuerySet[Product]:
    return published_products(shop, now).filter(exclude_from_catalog=False, noindex=False)

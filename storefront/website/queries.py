"""Reads of the shopper's pages besides the catalogue records. Each function reads for a whole page in few queries."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from storefront.carts import rules as cart_rules
from storefront.carts.models import Cart, CartLine
from storefront.carts.purchasable import Purchasable, load_purchasables
from storefront.carts.translated_lines import items_in
from storefront.catalogue import rules, translated_slugs
from storefront.catalogue.dated import sale_periods
from storefront.catalogue.digital_files import without_file
from storefront.catalogue.models import Category, Option, Product, ProductCategory, RelatedProduct, Variant
from storefront.catalogue.old_slugs import moved_row
from storefront.catalogue.records import media_url
from storefront.catalogue.shown import shown_categories
from storefront.catalogue.translated_slugs import own_slug
from storefront.catalogue.translating import CATEGORY_TEXTS
from storefront.content.models import Page
from storefront.content.queries import published_pages
from storefront.kit.money import ZERO
from storefront.kit.translations import spoken
from storefront.listing.queries import ProductFilters, first_products, published_products
from storefront.pictures.queries import pictures_of
from storefront.pricing.queries import GroupTerms
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language
from storefront.website.offers import VariantRange

MAIN_CATEGORIES = 10
# The slug of a product or category, by language.
Slugs = Mapping[str, str]


def main_categories(shop: Shop, language: str = "") -> list[Category]:
    """The first MAIN_CATEGORIES main categories in the shop's order, for the navigation."""
    main = Category.objects.filter(shop=shop, parent=None, is_active=True).order_by("lft")
    return _in_language(shop, main[:MAIN_CATEGORIES], language)


def categories_above(shop: Shop, lft: int, rgt: int, language: str = "") -> list[Category]:
    """The categories above a shown one with these places in the tree, from the main category down."""
    above = Category.objects.filter(shop=shop, lft__lt=lft, rgt__gt=rgt)
    return _in_language(shop, above.order_by("lft"), language)


def subcategories(shop: Shop, category: Category, language: str = "") -> list[Category]:
    """The active categories directly under a shown one."""
    below = Category.objects.filter(shop=shop, is_active=True, parent=category)
    return _in_language(shop, below.order_by("lft"), language)


def shown_category(shop: Shop, slug: str, language: str = "") -> Category | None:
    """The shown category with this slug in the language, or else in the main one."""
    if "\0" in slug or len(slug) > rules.MAX_SLUG_LENGTH:
        return None
    found = shown_categories(shop).filter(slug=slug)
    if language not in ("", shop.language):
        # In one query with those of the language, which come first.
        of_language = translated_slugs.current(shop.pk, Category).filter(language=language, slug=slug)
        either = Q(slug=slug) | Q(pk__in=of_language.values("category"))
        found = shown_categories(shop).filter(either).order_by(Case(When(slug=slug, then=1), default=0))
    return next(iter(_in_language(shop, found[:1], language)), None)


def shown_categories_of(shop: Shop, ids: Collection[int], language: str = "") -> list[Category]:
    """The shown categories among these ids."""
    return _in_language(shop, shown_categories(shop).filter(pk__in=ids), language)


def moved_category(shop: Shop, slug: str, language: str = "") -> Category | None:
    """The shown category that had this slug before, or has it in another language."""
    moved = translated_slugs.moved_row(shop, Category, slug, language) or moved_row(shop, Category, slug)
    found = shown_categories(shop).filter(pk=moved[0]) if moved else []
    return next(iter(_in_language(shop, found, language)), None)


def main_slug(category: Category) -> str:
    """The slug in the shop's main language of a category that these functions returned."""
    return category.main_slug  # type: ignore[attr-defined]


def slugs_of_category(shop: Shop, category: Category) -> Slugs | None:
    """The slug in each of the shop's languages of a category that these functions returned; None in a shop with one
    language."""
    if not shop.further_languages:
        return None
    stored = {"slug": main_slug(category), "translations": category.translations}
    return translated_slugs.slugs_of(shop, stored)


def _in_language(shop: Shop, rows: Iterable[Category], language: str) -> list[Category]:
    """The categories, which are only shown, with their texts and slugs in this language."""
    rows = list(rows)
    for row in rows:
        row.main_slug = row.slug  # type: ignore[attr-defined]
    spoken(rows, further_language(shop, language), *CATEGORY_TEXTS, "slug")
    for row in rows:
        # Translations that were stored before slugs had languages can have any text there.
        row.slug = row.slug if rules.is_slug(row.slug) else row.main_slug  # type: ignore[attr-defined]
    return rows


def category_pictures(shop: Shop, categories: Collection[Category], now: datetime) -> dict[int, str | None]:
    """The picture URL of each category by category id: its own image, or else a picture of a product in it."""
    without = [category.pk for category in categories if not category.image]
    # Ordered like the index of the links, so that the database reads one row per category.
    links = ProductCategory.objects.filter(
        shop=shop,
        category=OuterRef("pk"),
        product__in=published_products(shop, now).filter(exclude_from_catalog=False),
        product__media__isnull=False,
    )
    product_ids = dict(
        Category.objects.filter(shop=shop, pk__in=without).values_list(
            "pk", Subquery(links.order_by("product_id").values("product_id")[:1])
        )
        if without
        else ()
    )
    first: dict[int, str | None] = {}
    for row, is_requested in pictures_of(shop, [pk for pk in product_ids.values() if pk]):
        # An external picture that is going to be fetched is not shown from its own URL.
        url = None if is_requested and not row.file else media_url(shop, row.file.name, row.source_url)
        first.setdefault(row.product_id, url)
    own = {category.pk: media_url(shop, category.image.name) for category in categories if category.image}
    return own | {pk: first.get(product_id) for pk, product_id in product_ids.items()}


def related_records(
    shop: Shop, product_ids: Collection[int], kind: str, *, count: int, now: datetime, language: str = ""
) -> list[dict[str, Any]]:
    """The records of at most `count` products that lists show and that are related to these in this way, in order."""
    rows = RelatedProduct.objects.filter(
        shop=shop,
        kind=kind,
        product_id__in=product_ids,
        related_product__in=published_products(shop, now).filter(exclude_from_catalog=False),
    ).exclude(related_product_id__in=product_ids)
    ids = list(dict.fromkeys(rows.values_list("related_product_id", flat=True)[: count * len(product_ids)]))[:count]
    if not ids:
        return []
    found = first_products(shop, ProductFilters(ids=tuple(ids)), count=count, now=now, language=language)
    return sorted(found, key=lambda record: ids.index(record["id"]))


def variant_ranges(
    shop: Shop, product_ids: Collection[int], terms: GroupTerms, *, now: datetime
) -> dict[int, VariantRange]:
    """A summary of the active variants of each product, by product id, at the prices of the customer group's terms."""
    if not product_ids:
        return {}
    rows = Variant.objects.filter(shop=shop, product_id__in=product_ids, is_active=True).order_by("price", "pk")
    by_product: dict[int, list[Variant]] = {}
    for variant in rows.only(
        "product_id", *sale_periods.COLUMNS, "is_active", "track_inventory", "allow_backorders", "stock_qty"
    ):
        sale_periods.settle(variant, now)
        by_product.setdefault(variant.product_id, []).append(variant)
    return {product_id: _range(variants, terms) for product_id, variants in by_product.items()}


def _range(variants: list[Variant], terms: GroupTerms) -> VariantRange:
    for variant in variants:
        variant.price = terms.price_of(variant.price, variant.product_id, variant.pk)
    # Sorted again, since a sale that just began and group prices can change the order. The sort is stable, so equal
    # prices keep theirs.
    variants = sorted(variants, key=lambda variant: variant.price)
    sellable = [variant for variant in variants if variant.can_sell(1)]
    return VariantRange(
        lowest=variants[0].price,
        highest=variants[-1].price,
        compare_of_lowest=terms.shown(variants[0].compare_price, variants[0].product_id),
        can_sell=bool(sellable),
        only_backorder=all(variant.track_inventory and variant.stock_qty <= 0 for variant in sellable),
    )


def required_options(shop: Shop, product_ids: Collection[int], terms: GroupTerms) -> dict[int, tuple[Decimal, bool]]:
    """By product id: the least that required options add to the price, and whether other choices add more; at the
    prices of the customer group's terms."""
    if not product_ids:
        return {}
    least: dict[int, tuple[Decimal, bool]] = {}
    options = Option.objects.filter(shop=shop, product_id__in=product_ids, required=True)
    prices: dict[tuple[int, int], set[Decimal]] = {}
    for product_id, option_id, price in options.values_list("product_id", "pk", "values__price"):
        prices.setdefault((product_id, option_id), set()).add(price or ZERO)
    for (product_id, _), amounts in prices.items():
        amount, varies = least.get(product_id, (ZERO, False))
        added = terms.shown(min(amounts), product_id)
        least[product_id] = (amount + added, varies or len(amounts) > 1)
    return least


def bundle_limits(shop: Shop, product_ids: Collection[int], now: datetime) -> dict[int, int | None]:
    """How many of each bundle the stock of its items allows, by product id; None without a limit."""
    if not product_ids:
        return {}
    purchasables = load_purchasables(shop, [(product_id, None) for product_id in product_ids], now)
    return {product_id: _bundle_limit(found) for (product_id, _), found in purchasables.items()}


def undelivered(shop: Shop, product_ids: Collection[int]) -> dict[int, int | None]:
    """Like `bundle_limits`, for downloads: 0 for each that has no file yet."""
    return {product.pk: 0 for product in without_file(shop, product_ids)}


def bundle(
    shop: Shop, product_id: int, now: datetime, language: str = ""
) -> tuple[dict[int, int | None], list[dict[str, Any]]]:
    """`bundle_limits` of one bundle, and its items in the form in which a cart line stores them."""
    purchasables = load_purchasables(shop, [(product_id, None)], now)
    found = purchasables[product_id, None]
    return {product_id: _bundle_limit(found)}, items_in(shop, found.bundle_items, language)


def _bundle_limit(purchasable: Purchasable) -> int | None:
    if purchasable.lacks_file or purchasable.is_subscription or purchasable.has_unsold_item:
        return 0
    one = cart_rules.stock_uses(purchasable.product.pk, None, 1, bundle_items=purchasable.bundle_items)
    return cart_rules.addable_qty(one, {}, purchasable.levels)


def basket_count(cart: Cart) -> int:
    """The number of pieces in the basket."""
    return CartLine.objects.filter(shop=cart.shop_id, cart=cart).aggregate(pieces=Sum("qty"))["pieces"] or 0


def sitemap_products(shop: Shop, now: datetime, *, start: int, end: int) -> list[tuple[Slugs, datetime]]:
    """Slugs by language and last change of products `start` to `end` (exclusive) that search engines may list."""
    return _sitemap_entries(shop, _in_sitemap(shop, now).order_by("pk"), slice(start, end))


def sitemap_size(shop: Shop, now: datetime) -> int:
    """The number of products that search engines may list."""
    return _in_sitemap(shop, now).count()


def sitemap_categories(shop: Shop) -> list[tuple[Slugs, datetime]]:
    """Slugs by language and last change of the categories that search engines may list."""
    return _sitemap_entries(shop, shown_categories(shop).filter(noindex=False).order_by("lft"), slice(None))


def _sitemap_entries(shop: Shop, rows: QuerySet[Any], part: slice) -> list[tuple[Slugs, datetime]]:
    # The slugs alone, since the texts of many products are large.
    translated = [KT(f"translations__{code}__slug") for code in shop.further_languages]
    found = rows.values_list("slug", Coalesce("sitemap_lastmod", "updated_at"), *translated)[part]
    return [
        (dict(zip(shop.languages, [slug, *(own_slug({"slug": other}) or slug for other in others)], strict=True)), at)
        for slug, at, *others in found
    ]


def _in_sitemap(shop: Shop, now: datetime) -> QuerySet[Product]:
    return published_products(shop, now).filter(exclude_from_catalog=False, noindex=False)


def pages_once(request: Any) -> list[Page]:
    """The shop's published pages, read once per request."""
    if not getattr(request, "shop", None):
        return []
    if not hasattr(request, "content_pages"):
        request.content_pages = published_pages(request.shop, request.language)
    found: list[Page] = request.content_pages
    return found

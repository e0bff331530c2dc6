"""Compares stock with its ledger, the tree's bounds with the parents of its categories, the shop of a product's parts
with the product's, its price with those of its variants, old slugs with those in use, and the time of a product's last
change with its copy that lists go by."""

from collections.abc import Iterator

from django.db import connection

from storefront.catalogue import tree
from storefront.catalogue.dialect import dialect
from storefront.catalogue.models import Category
from storefront.kit.deviations import Deviation, differing
from storefront.kit.money_field import from_hundredths
from storefront.kit.sql import fetch
from storefront.shops.models import Shop

_STOCK = "PARTITION BY a.product_id, a.variant_id, a.of_damaged"
# Rows that do not begin where the one before ended. Rows before the last opening row are not compared.
_BREAKS = f"""
    SELECT r.product_id, r.variant_id, r.of_damaged, r.id, r.stock_after, COALESCE(r.was, 0) + r.delta FROM (
        SELECT a.*, lag(a.stock_after) OVER ({_STOCK} ORDER BY a.id) AS was,
            max(CASE WHEN a.kind = 'opening' THEN a.id ELSE 0 END) OVER ({_STOCK}) AS opened
        FROM catalogue_stockadjustment a WHERE a.shop_id = %(shop)s
    ) r WHERE r.id > r.opened AND r.stock_after <> COALESCE(r.was, 0) + r.delta ORDER BY r.id
"""  # noqa: S608, built from names in this file
# Stocks that differ from the ledger's last row; a removed variant has none. A single statement, so that it sees one
# state despite other writers.
_DIFFERENCES = f"""
    SELECT k.product_id, k.variant_id, k.of_damaged, sum(k.qty), sum(k.explained) FROM (
        SELECT id AS product_id, 0 AS variant_id, false AS of_damaged, stock_qty AS qty, 0 AS explained
            FROM catalogue_product WHERE shop_id = %(shop)s
        UNION ALL SELECT id, 0, true, damaged_qty, 0 FROM catalogue_product WHERE shop_id = %(shop)s
        UNION ALL SELECT product_id, id, false, stock_qty, 0 FROM catalogue_variant WHERE shop_id = %(shop)s
        UNION ALL SELECT r.product_id, COALESCE(r.variant_id, 0), r.of_damaged, 0, r.stock_after FROM (
            SELECT a.*, row_number() OVER ({_STOCK} ORDER BY a.id DESC) AS age
            FROM catalogue_stockadjustment a WHERE a.shop_id = %(shop)s
        ) r WHERE r.age = 1
    ) k GROUP BY k.product_id, k.variant_id, k.of_damaged HAVING sum(k.qty) <> sum(k.explained)
"""  # noqa: S608, built from names in this file
# Imported variable products at a price below or above those of all their active variants: an import keeps the price
# that lists sort by. Programs and people choose it, also 0.00 (R-CAT-14), so other products are not compared. Stored
# prices are: sale periods turn those of a product and of its variants together.
_LIST_PRICES = """
    SELECT p.slug, p.price, v.lowest, v.highest FROM catalogue_product p JOIN (
        SELECT product_id, min(price) AS lowest, max(price) AS highest FROM catalogue_variant
        WHERE shop_id = %(shop)s AND is_active GROUP BY product_id
    ) v ON v.product_id = p.id
    WHERE p.shop_id = %(shop)s AND p.deleted_at IS NULL AND p.type = 'variable' AND p.price <> 0
        AND (p.price < v.lowest OR p.price > v.highest)
        AND (p.legacy_source_id IS NOT NULL OR EXISTS (
            SELECT 1 FROM catalogue_stockadjustment a
            WHERE a.shop_id = %(shop)s AND a.product_id = p.id AND a.kind = 'imported'
        )) ORDER BY p.id
"""
# The parts of a product, by table, with the column that refers to their owner, and the owner's table.
_PARTS = (
    ("media", "product_id", "product"),
    ("variant", "product_id", "product"),
    ("option", "product_id", "product"),
    ("optionvalue", "option_id", "option"),
    ("productcategory", "product_id", "product"),
    ("productsearch", "product_id", "product"),
    ("bundleitem", "bundle_id", "product"),
    ("oldslug", "product_id", "product"),
    ("oldslug", "category_id", "category"),
    ("translatedslug", "product_id", "product"),
    ("translatedslug", "category_id", "category"),
)
# Rows of another shop than their owner.
_STRANGERS = " UNION ALL ".join(
    f"SELECT '{table}', r.{key}, r.shop_id FROM catalogue_{owner} o JOIN catalogue_{table} r ON r.{key} = o.id"  # noqa: S608
    " WHERE o.shop_id = %(shop)s AND r.shop_id <> o.shop_id"
    for table, key, owner in _PARTS
)

# Old slugs that a product or a category has now.
_OLD_IN_USE = " UNION ALL ".join(
    f"SELECT '{table}', o.slug FROM catalogue_oldslug o JOIN catalogue_{table} r"  # noqa: S608
    f" ON r.shop_id = o.shop_id AND r.slug = o.slug{live} WHERE o.shop_id = %(shop)s AND o.{table}_id IS NOT NULL"
    for table, live in (("product", " AND r.deleted_at IS NULL"), ("category", ""))
)

# Slugs in further languages whose row has another one.
_TRANSLATED = " UNION ALL ".join(
    f"SELECT '{table}', r.slug, s.language, s.slug, {dialect.TRANSLATED_SLUG} FROM catalogue_translatedslug s"  # noqa: S608
    f" JOIN catalogue_{table} r ON r.id = s.{table}_id WHERE s.shop_id = %(shop)s AND s.current"
    f" AND s.slug <> COALESCE({dialect.TRANSLATED_SLUG}, '')"
    for table in ("product", "category")
)

# Slugs in further languages that their rows do not have: the table lacks them, or they are other rows'.
_UNTRANSLATED = " UNION ALL ".join(
    f"SELECT '{table}', r.slug, e.key, {dialect.SLUG} FROM catalogue_{table} r, {dialect.SLUGS_OF}"  # noqa: S608
    f" WHERE r.shop_id = %(shop)s AND r.translations IS NOT NULL{live}"
    f" AND length(e.key) <= 5 AND length({dialect.SLUG}) BETWEEN 1 AND 255"
    f" AND NOT EXISTS (SELECT 1 FROM catalogue_translatedslug s WHERE s.{table}_id = r.id AND s.language = e.key"
    f" AND s.current AND s.slug = {dialect.SLUG})"
    for table, live in (("product", " AND r.deleted_at IS NULL"), ("category", ""))
)

# Products that lists by the last change would leave out, or show in a wrong place.
_LAST_CHANGES = """
    SELECT p.slug, c.updated_at, c.status, p.updated_at, p.status, p.deleted_at
    FROM catalogue_product p LEFT JOIN catalogue_lastchange c ON c.product_id = p.id AND c.shop_id = p.shop_id
    WHERE p.shop_id = %(shop)s AND CASE WHEN p.deleted_at IS NOT NULL THEN c.updated_at IS NOT NULL
        ELSE c.updated_at IS NULL OR c.updated_at <> p.updated_at OR c.status <> p.status END ORDER BY p.id
"""


def deviations(shop: Shop) -> Iterator[Deviation]:
    """The shop's stocks that their ledger does not explain, categories with wrong bounds, rows of another shop, list
    prices that no variant has, old slugs that are in use, slugs in further languages that differ from the translations,
    and last changes that lists do not know."""
    for product, variant, damaged, id, after, expected in fetch(connection, _BREAKS, {"shop": shop.pk}):
        name = f"row {id} of {_stock(product, variant, damaged)}"
        yield from differing("stock ledger", name, after, expected)
    for product, variant, damaged, qty, expected in fetch(connection, _DIFFERENCES, {"shop": shop.pk}):
        yield from differing("stock", _stock(product, variant, damaged), qty, expected)
    for table, owner, other in fetch(connection, _STRANGERS, {"shop": shop.pk}, prepared=False):
        yield from differing("shop of a row", f"{table} of {owner}", other, shop.pk)
    for slug, price, lowest, highest in fetch(connection, _LIST_PRICES, {"shop": shop.pk}):
        prices = " to ".join(dict.fromkeys(f"{from_hundredths(each):.2f}" for each in (lowest, highest)))
        yield from differing("list price", f"product {slug}", f"{from_hundredths(price):.2f}", prices)
    for table, slug in fetch(connection, _OLD_IN_USE, {"shop": shop.pk}, prepared=False):
        yield Deviation("old slug", f"{table} {slug}", "in use", "not in use")
    for table, slug, language, has, expected in fetch(connection, _TRANSLATED, {"shop": shop.pk}, prepared=False):
        yield Deviation("translated slug", f"{table} {slug} in {language}", has, expected)
    for table, slug, language, expected in fetch(connection, _UNTRANSLATED, {"shop": shop.pk}, prepared=False):
        if language in shop.further_languages:
            yield Deviation("translated slug", f"{table} {slug} in {language}", "", expected)
    for slug, listed, listed_as, changed, status, deleted in fetch(connection, _LAST_CHANGES, {"shop": shop.pk}):
        yield from differing("last change", f"product {slug}", listed, None if deleted else changed)
        if listed and not deleted:
            yield from differing("listed status", f"product {slug}", listed_as, status)
    rows = list(
        Category.objects.filter(shop=shop)
        .order_by("sort_order", "id")
        .values_list("id", "parent_id", "slug", "lft", "rgt")
    )
    correct = tree.bounds((id, parent) for id, parent, *_ in rows)
    for id, _, slug, *bounds in rows:
        yield from differing("category bounds", f"category {slug}", tuple(bounds), correct.get(id))


def _stock(product: int, variant: int | None, damaged: bool) -> str:
    if variant:
        return f"variant {variant} of product {product}"
    return f"damaged units of product {product}" if damaged else f"product {product}"

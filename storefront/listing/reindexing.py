# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""Recomputes the data that is derived from the catalogue's rows, and reports differences: totals, search texts, the
search index; slugs in further languages; counts a large shop's frequent words again. There should be no differences; it
is for use after restoring a backup or editing the database by hand.

Shops stay open meanwhile. SQLite's other writers wait for each step.
"""

from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction

from storefront.catalogue import translated_slugs
from storefront.catalogue.dialect import dialect
from storefront.catalogue.models import Category, ProductSearch
from storefront.catalogue.search_index import rewrite_texts
from storefront.kit import clock
from storefront.kit.bulk_insert import bulk_write_pragmas
from storefront.kit.sql import fetch
from storefront.listing.frequent_words import count_words, is_large
from storefront.listing.sql import LISTABLE
from storefront.shops.models import Shop

# One statement, so that it sees one state of the shop despite other writers.
_DIFFERENCES = f"""
    SELECT found.category, CAST(sum(found.kept) AS bigint), CAST(sum(found.counted) AS bigint) FROM (
        SELECT t.category, t.products AS kept, 0 AS counted FROM catalogue_listingtotal t WHERE t.shop_id = %(shop)s
        UNION ALL
        SELECT 0, 0, count(*) FROM catalogue_product p WHERE p.shop_id = %(shop)s AND {LISTABLE}
        UNION ALL
        SELECT l.category_id, 0, count(*) FROM catalogue_productcategory l JOIN catalogue_product p
            ON p.id = l.product_id AND l.shop_id = p.shop_id WHERE p.shop_id = %(shop)s AND {LISTABLE}
            GROUP BY l.category_id
    ) found GROUP BY found.category HAVING sum(found.kept) <> sum(found.counted) ORDER BY found.category
"""
_LISTED = f"""
    UPDATE catalogue_productsearch SET listed = NOT listed WHERE shop_id = %(shop)s AND listed <>
        EXISTS (SELECT 1 FROM catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {LISTABLE})
"""


@dataclass
class Differences:
    """What was wrong. `totals`: {category, kept, counted} each, with a category's slug, or None for the whole shop.
    `texts`: how many search texts were missing, outdated or left over. `listed`: how many were wrongly in or out of the
    index."""

    totals: list[dict[str, Any]] = field(default_factory=list)
    texts: int = 0
    listed: int = 0


@bulk_write_pragmas()
def reindex(*, shop: Shop) -> Differences:
    """Correct the shop's totals, search texts and frequent words. Returns what was wrong."""
    found = Differences()
    found.texts = rewrite_texts(shop)
    with transaction.atomic(), connection.cursor() as cursor:
        translated_slugs.rewrite(shop)
        found.texts += ProductSearch.objects.filter(shop=shop).exclude(product__deleted_at=None).delete()[0]
        cursor.execute(_LISTED, {"shop": shop.pk})
        found.listed = cursor.rowcount
        differences = _differences(shop)
        for category, kept, counted in differences:
            cursor.execute(dialect.NOTE, [shop.pk, category, counted - kept])
    found.totals = _named(shop, differences)
    if is_large(shop):
        count_words(shop, now=clock.now(), anew=True, rest=0)
        with connection.cursor() as cursor:
            # Another version of the list, since processes keep what they found by the words from before.
            cursor.execute(dialect.NOTE, [shop.pk, 0, 0])
    return found


def total_differences(shop: Shop) -> list[dict[str, Any]]:
    """The shop's totals that are wrong, as `Differences.totals` has them."""
    return _named(shop, _differences(shop))


def _differences(shop: Shop) -> list[tuple]:
    return fetch(connection, _DIFFERENCES, {"shop": shop.pk}, prepared=False)


def _named(shop: Shop, differences: list[tuple]) -> list[dict[str, Any]]:
    slugs = dict(Category.objects.filter(shop=shop).values_list("pk", "slug")) if differences else {}
    return [
        {"category": slugs.get(category), "kept": kept, "counted": counted} for category, kept, counted in differences
    ]


@bulk_write_pragmas()
@transaction.atomic
def rebuild_index() -> None:
    """Build the search index of all shops from scratch, on SQLite."""
    with connection.cursor() as cursor:
        dialect.rebuild_search_index(cursor)
